"""Which known transcript a file on disk is: by device, inode and first bytes, never by its path."""

import os
import time
from collections.abc import Iterable
from typing import NamedTuple

from flowd.daemon.reading.tailer import (
    fingerprint,
    line_boundary_before,
    read_head,
    still_the_same,
    tail_before,
)
from flowd.extractors.transcript.paths import TranscriptName
from flowd.store.packed_sources import PackedSource
from flowd.store.sources import Source


class RecognisedFile(NamedTuple):
    """The source that a file is, what happened to it (for the counters), and whom it replaced."""

    source: Source
    event: str = ""
    replaced: Source | None = None


class KnownFiles:
    """All transcripts flowd knows, found by path and by inode.

    Who is asked for is unpacked, and is one and the same Source until ``settle``.
    """

    def __init__(self, known: Iterable[PackedSource]) -> None:
        self.by_path: dict[str, PackedSource] = {}
        self._by_inode: dict[int, dict[int, PackedSource]] = {}
        self._vanished: dict[str, PackedSource] = {}
        self._awake: dict[int, PackedSource] = {}
        # Inode numbers are used again: the living come last, so that the dead do not hide them.
        for kept in sorted(known, key=lambda kept: kept.is_live):
            self._remember(kept)

    def at(self, path: str) -> Source | None:
        """Return the transcript whose file was last seen at *path*."""
        return self._wake(self.by_path.get(path))

    def of_session(self, session_id: str) -> list[Source]:
        """Return the transcripts of a session, its subagents' among them."""
        maybe = [self._wake(kept) for kept in self.by_path.values() if kept.mentions(session_id)]
        return [source for source in maybe if source is not None and source.session_id == session_id]

    def settle(self, most: int = 0) -> None:
        """Pack what was asked for, if it is more than *most*; all of it is stored, and nobody works on it."""
        if len(self._awake) <= most:
            return
        awake, self._awake = self._awake, {}
        for kept in awake.values():
            kept.pack()

    def recognise(
        self, path: str, name: TranscriptName, descriptor: int, status: os.stat_result
    ) -> RecognisedFile | None:
        """Return who the open file is, or None while its first line is not complete."""
        known = self._wake(self._by_inode.get(status.st_dev, {}).get(status.st_ino))
        is_here = known is not None and known.path == path
        if known is not None and is_here and known.state == "live" and _has_grown(known, descriptor, status):
            return RecognisedFile(known)
        head = fingerprint(read_head(descriptor))
        if not head:
            return self._emptied(known, status) if is_here else None
        # Under another name it is the same file only if it holds all that was read: inodes are used again.
        if known is not None and known.fingerprint == head and (is_here or _holds(known, descriptor, status)):
            return self._same_file(known, path, descriptor, status)
        return self._newcomer(path, name, head, descriptor, status)

    def vanish(self, source: Source) -> None:
        """Take *source*'s file as gone; should it come back, it is known."""
        self._forget_path(source)
        source.state = "vanished"
        self._vanished[source.path] = self._awake[id(source)]

    def _wake(self, kept: PackedSource | None) -> Source | None:
        """Return the source that is kept, the same one each time until ``settle``."""
        if kept is None:
            return None
        source = kept.unpack()
        self._awake[id(source)] = kept
        return source

    def _forget(self, source: Source) -> None:
        self._forget_path(source)
        inodes = self._by_inode[source.device]
        if inodes.get(source.inode) is self._awake[id(source)]:
            del inodes[source.inode]

    def _forget_path(self, source: Source) -> None:
        for paths in (self.by_path, self._vanished):
            if paths.get(source.path) is self._awake[id(source)]:
                del paths[source.path]

    def _add(self, source: Source) -> None:
        kept = self._awake[id(source)] = PackedSource(source.path, source)
        self._remember(kept)

    def _remember(self, kept: PackedSource) -> None:
        (self.by_path if kept.is_live else self._vanished)[kept.path] = kept
        device, inode = kept.identity
        self._by_inode.setdefault(device, {})[inode] = kept

    def _emptied(self, known: Source | None, status: os.stat_result) -> RecognisedFile | None:
        if known is None or known.state != "live" or known.offset == 0 or status.st_size > 0:
            return None
        _start_over(known, known.fingerprint)
        return RecognisedFile(known, "truncated")

    def _same_file(self, known: Source, path: str, descriptor: int, status: os.stat_result) -> RecognisedFile:
        event, replaced = "", None
        self._forget_path(known)
        kept = self._awake[id(known)]
        if known.path != path:
            known.path = kept.path = path
            event, replaced = "renamed", self.at(path)
            if replaced is not None:  # still known by its inode: it may have been renamed as well
                self._forget_path(replaced)
                replaced.state = "replaced"
        elif known.state == "vanished":
            event = "returned"
        known.state = "live"
        self._remember(kept)
        if status.st_size < known.offset:
            # Cut short: what is left was read before. Go on at its end rather than read it again.
            known.offset = line_boundary_before(descriptor, status.st_size)
            known.tail = tail_before(descriptor, known.offset)
            event = "truncated"
        elif known.tail and not still_the_same(descriptor, known.offset, known.tail):
            _start_over(known, known.fingerprint)
            event = "rewritten"
        return RecognisedFile(known, event, replaced)

    def _newcomer(
        self, path: str, name: TranscriptName, head: str, descriptor: int, status: os.stat_result
    ) -> RecognisedFile:
        source = Source(
            device=status.st_dev,
            inode=status.st_ino,
            fingerprint=head,
            path=path,
            session_id=name.session_id,
            is_subagent=name.is_subagent,
            first_seen_at=time.time(),
        )
        before = self._wake(self.by_path.get(path) or self._vanished.get(path))
        event, replaced = "", None
        if before is not None:
            event, replaced = ("replaced" if before.state == "live" else "returned"), before
            if before.fingerprint == head and _holds(before, descriptor, status):
                _inherit(source, before)
            self._forget(before)
            before.state = "replaced"
        self._add(source)
        return RecognisedFile(source, event, replaced)


def _has_grown(known: Source, descriptor: int, status: os.stat_result) -> bool:
    """Say whether this is the common case: more bytes, and those before the cursor unchanged."""
    return status.st_size > known.offset > 0 and still_the_same(descriptor, known.offset, known.tail)


def _holds(known: Source, descriptor: int, status: os.stat_result) -> bool:
    """Say whether the file still holds all that was read: renamed, rewritten atomically or restored."""
    return status.st_size >= known.offset and still_the_same(descriptor, known.offset, known.tail)


def _inherit(source: Source, before: Source) -> None:
    source.offset, source.tail = before.offset, before.tail
    source.lines, source.records = before.lines, before.records
    source.session_id = before.session_id


def _start_over(source: Source, head: str) -> None:
    source.generation += 1
    source.fingerprint = head
    source.offset = source.lines = source.records = 0
    source.tail = b""
