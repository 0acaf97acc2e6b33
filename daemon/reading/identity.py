"""Identify transcripts by device, inode and first bytes, never by path."""

import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from flowd.daemon.reading.tailer import (
    fingerprint,
    line_boundary_before,
    read_head,
    tail_before,
)
from flowd.extractors.transcript.records import TranscriptName
from flowd.store.packed_sources import PackedSource
from flowd.store.sources import Source, as_int64


class RecognisedFile(NamedTuple):
    """The source of a file, what happened to the file (a counter name), and the source it replaced."""

    source: Source
    event: str = ""
    replaced: Source | None = None


class KnownFiles:
    """All known transcripts, by path and by inode.

    Records are held packed. A lookup unpacks one; until ``pack`` every lookup returns the same Source object.
    """

    def __init__(self, known: Iterable[PackedSource]) -> None:
        self.by_path: dict[str, PackedSource] = {}
        self._by_inode: dict[int, dict[int, PackedSource]] = {}
        self._vanished: dict[str, PackedSource] = {}
        self._unpacked: dict[int, PackedSource] = {}
        # Inode numbers are reused: live transcripts are added last, so that dead ones do not hide them.
        for packed in sorted(known, key=lambda packed: packed.is_live):
            self._add_packed(packed)

    def at(self, path: str) -> Source | None:
        """Return the transcript that was last seen at *path*."""
        return self._unpack(self.by_path.get(path))

    def of_session(self, session_id: str) -> list[Source]:
        """Return the transcripts of a session, including its subagents'."""
        candidates = [self._unpack(packed) for packed in self.by_path.values() if packed.mentions(session_id)]
        return [source for source in candidates if source is not None and source.session_id == session_id]

    def pack(self, keep: int = 0) -> None:
        """Pack all unpacked records if they are more than *keep*; all changes must have been stored."""
        if len(self._unpacked) <= keep:
            return
        unpacked, self._unpacked = self._unpacked, {}
        for packed in unpacked.values():
            packed.pack()

    def recognise(
        self, path: str, name: TranscriptName, descriptor: int, status: os.stat_result
    ) -> RecognisedFile | None:
        """Return the source of the open file, or None while its first line is incomplete."""
        known = self._unpack(self._by_inode.get(as_int64(status.st_dev), {}).get(as_int64(status.st_ino)))
        is_here = known is not None and known.path == path
        if known is not None and is_here and known.state == "live" and _has_grown(known, descriptor, status):
            return RecognisedFile(known)
        head = fingerprint(read_head(descriptor))
        if not head:
            return self._emptied(known, status) if is_here else None
        # Under another name it is the same file only if it contains all that was read: inodes are reused.
        if (
            known is not None
            and known.fingerprint == head
            and (is_here or _is_intact(known, descriptor, status))
        ):
            return self._same_file(known, path, descriptor, status)
        return self._new_file(path, name, head, descriptor, status)

    def vanish(self, source: Source) -> None:
        """Mark *source*'s file as deleted; it is recognised if it returns."""
        self._forget_path(source)
        source.state = "vanished"
        self._vanished[source.path] = self._unpacked[id(source)]

    def _unpack(self, packed: PackedSource | None) -> Source | None:
        if packed is None:
            return None
        source = packed.unpack()
        self._unpacked[id(source)] = packed
        return source

    def _forget(self, source: Source) -> None:
        self._forget_path(source)
        inodes = self._by_inode[source.device]
        if inodes.get(source.inode) is self._unpacked[id(source)]:
            del inodes[source.inode]

    def _forget_path(self, source: Source) -> None:
        for paths in (self.by_path, self._vanished):
            if paths.get(source.path) is self._unpacked[id(source)]:
                del paths[source.path]

    def _add(self, source: Source) -> None:
        packed = self._unpacked[id(source)] = PackedSource(source.path, source)
        self._add_packed(packed)

    def _add_packed(self, packed: PackedSource) -> None:
        (self.by_path if packed.is_live else self._vanished)[packed.path] = packed
        device, inode = packed.identity
        self._by_inode.setdefault(device, {})[inode] = packed

    def _emptied(self, known: Source | None, status: os.stat_result) -> RecognisedFile | None:
        if known is None or known.state != "live" or known.offset == 0 or status.st_size > 0:
            return None
        _start_over(known, known.fingerprint)
        return RecognisedFile(known, "truncated")

    def _same_file(self, known: Source, path: str, descriptor: int, status: os.stat_result) -> RecognisedFile:
        event, replaced = "", None
        self._forget_path(known)
        packed = self._unpacked[id(known)]
        if known.path != path:
            known.path = packed.path = path
            event, replaced = "renamed", self.at(path)
            if replaced is not None:  # still known by its inode: it may have been renamed too
                self._forget_path(replaced)
                replaced.state = "replaced"
        elif known.state == "vanished":
            event = "returned"
        known.state = "live"
        self._add_packed(packed)
        if status.st_size < known.offset:
            # Truncated: what is left was read before. Continue at its end instead of reading it again.
            known.offset = line_boundary_before(descriptor, status.st_size)
            known.tail = tail_before(descriptor, known.offset)
            event = "truncated"
        elif known.tail and tail_before(descriptor, known.offset) != known.tail:
            _start_over(known, known.fingerprint)
            event = "rewritten"
        return RecognisedFile(known, event, replaced)

    def _new_file(
        self, path: str, name: TranscriptName, head: str, descriptor: int, status: os.stat_result
    ) -> RecognisedFile:
        source = Source(
            device=as_int64(status.st_dev),
            inode=as_int64(status.st_ino),
            fingerprint=head,
            path=path,
            session_id=name.session_id,
            is_subagent=name.is_subagent,
            first_seen_at=time.time(),
        )
        before = self._unpack(self.by_path.get(path) or self._vanished.get(path))
        event, replaced = "", None
        if before is not None:
            event, replaced = ("replaced" if before.state == "live" else "returned"), before
            if before.fingerprint == head and _is_intact(before, descriptor, status):
                _inherit(source, before)
            self._forget(before)
            before.state = "replaced"
        self._add(source)
        return RecognisedFile(source, event, replaced)


def _has_grown(known: Source, descriptor: int, status: os.stat_result) -> bool:
    """Return True in the common case: more bytes, and those before the offset unchanged."""
    return status.st_size > known.offset > 0 and tail_before(descriptor, known.offset) == known.tail


def _is_intact(known: Source, descriptor: int, status: os.stat_result) -> bool:
    """Return True if the file contains all that was read: renamed, rewritten atomically or restored."""
    return status.st_size >= known.offset and tail_before(descriptor, known.offset) == known.tail


def _inherit(source: Source, before: Source) -> None:
    source.offset, source.tail = before.offset, before.tail
    source.lines, source.records = before.lines, before.records
    source.session_id = before.session_id


def _start_over(source: Source, head: str) -> None:
    source.generation += 1
    source.fingerprint = head
    source.offset = source.lines = source.records = 0
    source.tail = b""
