"""Which known transcript a file on disk is: by device, inode and first bytes, never by its path."""

import os
import time
from typing import NamedTuple

from flowd.daemon.tailer import fingerprint, line_boundary_before, read_head, still_the_same
from flowd.extractors.transcript_paths import TranscriptName
from flowd.store.sources import Source


class Recognised(NamedTuple):
    """The source that a file is, what happened to it (for the counters), and whom it replaced."""

    source: Source
    event: str = ""
    replaced: Source | None = None


class KnownFiles:
    """All transcripts flowd knows, found by path and by inode."""

    def __init__(self, sources: list[Source]) -> None:
        self.by_path: dict[str, Source] = {}
        self._by_inode: dict[tuple[int, int], Source] = {}
        for source in sources:
            self._remember(source)

    def recognise(
        self, path: str, name: TranscriptName, descriptor: int, status: os.stat_result
    ) -> Recognised | None:
        """Return who the open file is, or None while its first line is not complete."""
        identity = (status.st_dev, status.st_ino)
        known = self._by_inode.get(identity)
        if known is not None and known.path == path and _has_grown(known, descriptor, status):
            return Recognised(known)
        head = fingerprint(read_head(descriptor))
        if not head:
            return self._emptied(known, status)
        if known is not None and known.fingerprint == head:
            return self._same_file(known, path, descriptor, status)
        return self._newcomer(path, name, head, descriptor, status)

    def forget(self, source: Source) -> None:
        """Drop *source*: its file is gone or is another one now."""
        if self.by_path.get(source.path) is source:
            del self.by_path[source.path]
        identity = (source.device, source.inode)
        if self._by_inode.get(identity) is source:
            del self._by_inode[identity]

    def _remember(self, source: Source) -> None:
        if source.state == "live":
            self.by_path[source.path] = source
        self._by_inode[source.device, source.inode] = source

    def _emptied(self, known: Source | None, status: os.stat_result) -> Recognised | None:
        if known is None or known.offset == 0 or status.st_size > 0:
            return None
        _start_over(known, known.fingerprint)
        return Recognised(known, "truncated")

    def _same_file(self, known: Source, path: str, descriptor: int, status: os.stat_result) -> Recognised:
        event = ""
        if known.path != path:
            self.by_path.pop(known.path, None)
            known.path = path
            event = "renamed"
        elif known.state == "vanished":
            event = "returned"
        known.state = "live"
        self._remember(known)
        if status.st_size < known.offset:
            # Cut short: what is left was read before. Go on at its end rather than read it again.
            known.offset = line_boundary_before(descriptor, status.st_size)
            known.tail = b""
            event = "truncated"
        elif known.tail and not still_the_same(descriptor, known.offset, known.tail):
            _start_over(known, known.fingerprint)
            event = "rewritten"
        return Recognised(known, event)

    def _newcomer(
        self, path: str, name: TranscriptName, head: str, descriptor: int, status: os.stat_result
    ) -> Recognised:
        source = Source(
            device=status.st_dev,
            inode=status.st_ino,
            fingerprint=head,
            path=path,
            session_id=name.session_id,
            is_subagent=name.is_subagent,
            first_seen_at=time.time(),
        )
        before = self.by_path.get(path) or self._by_inode.get((status.st_dev, status.st_ino))
        event, replaced = "", None
        if before is not None and before.path == path:
            event, replaced = "replaced", before
            if _continues(before, head, descriptor, status):
                _inherit(source, before)
            self.forget(before)
            before.state = "replaced"
        self._remember(source)
        return Recognised(source, event, replaced)


def _has_grown(known: Source, descriptor: int, status: os.stat_result) -> bool:
    """Say whether this is the common case: more bytes, and those before the cursor unchanged."""
    return status.st_size > known.offset and still_the_same(descriptor, known.offset, known.tail)


def _continues(before: Source, head: str, descriptor: int, status: os.stat_result) -> bool:
    """Say whether the new file holds all that was read of the old one: an atomic rewrite, a restore."""
    return (
        head == before.fingerprint
        and status.st_size >= before.offset
        and still_the_same(descriptor, before.offset, before.tail)
    )


def _inherit(source: Source, before: Source) -> None:
    source.offset, source.tail = before.offset, before.tail
    source.lines, source.records = before.lines, before.records
    source.session_id = before.session_id


def _start_over(source: Source, head: str) -> None:
    source.generation += 1
    source.fingerprint = head
    source.offset = source.lines = source.records = 0
    source.tail = b""
