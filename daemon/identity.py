"""Which known transcript a file on disk is: by device, inode and first bytes, never by its path."""

import os
import time
from typing import NamedTuple

from flowd.daemon.tailer import fingerprint, line_boundary_before, read_head, still_the_same, tail_before
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
        self._vanished: dict[str, Source] = {}
        # Inode numbers are used again: the living come last, so that the dead do not hide them.
        for source in sorted(sources, key=lambda source: source.state == "live"):
            self._remember(source)

    def recognise(
        self, path: str, name: TranscriptName, descriptor: int, status: os.stat_result
    ) -> Recognised | None:
        """Return who the open file is, or None while its first line is not complete."""
        identity = (status.st_dev, status.st_ino)
        known = self._by_inode.get(identity)
        is_here = known is not None and known.path == path
        if known is not None and is_here and known.state == "live" and _has_grown(known, descriptor, status):
            return Recognised(known)
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
        self._vanished[source.path] = source

    def _forget(self, source: Source) -> None:
        self._forget_path(source)
        identity = (source.device, source.inode)
        if self._by_inode.get(identity) is source:
            del self._by_inode[identity]

    def _forget_path(self, source: Source) -> None:
        for paths in (self.by_path, self._vanished):
            if paths.get(source.path) is source:
                del paths[source.path]

    def _remember(self, source: Source) -> None:
        (self.by_path if source.state == "live" else self._vanished)[source.path] = source
        self._by_inode[source.device, source.inode] = source

    def _emptied(self, known: Source | None, status: os.stat_result) -> Recognised | None:
        if known is None or known.state != "live" or known.offset == 0 or status.st_size > 0:
            return None
        _start_over(known, known.fingerprint)
        return Recognised(known, "truncated")

    def _same_file(self, known: Source, path: str, descriptor: int, status: os.stat_result) -> Recognised:
        event, replaced = "", None
        self._forget_path(known)
        if known.path != path:
            known.path = path
            event, replaced = "renamed", self.by_path.get(path)
            if replaced is not None:  # still known by its inode: it may have been renamed as well
                self._forget_path(replaced)
                replaced.state = "replaced"
        elif known.state == "vanished":
            event = "returned"
        known.state = "live"
        self._remember(known)
        if status.st_size < known.offset:
            # Cut short: what is left was read before. Go on at its end rather than read it again.
            known.offset = line_boundary_before(descriptor, status.st_size)
            known.tail = tail_before(descriptor, known.offset)
            event = "truncated"
        elif known.tail and not still_the_same(descriptor, known.offset, known.tail):
            _start_over(known, known.fingerprint)
            event = "rewritten"
        return Recognised(known, event, replaced)

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
        before = self.by_path.get(path) or self._vanished.get(path)
        event, replaced = "", None
        if before is not None:
            event, replaced = ("replaced" if before.state == "live" else "returned"), before
            if before.fingerprint == head and _holds(before, descriptor, status):
                _inherit(source, before)
            self._forget(before)
            before.state = "replaced"
        self._remember(source)
        return Recognised(source, event, replaced)


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
