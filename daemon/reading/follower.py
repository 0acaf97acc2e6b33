"""Follow one transcript: identify it, read what was appended, record what happened to the file."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from flowd.config.logs import log
from flowd.daemon.reading.identity import KnownFiles, RecognisedFile
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.queue import ReaderQueue, ReaderScheduler
from flowd.daemon.reading.tailer import LineReader
from flowd.extractors.transcript.records import TranscriptName
from flowd.extractors.transcript.session import StaleMemoryError
from flowd.store.journal import Batch
from flowd.store.sources import Source, as_int64
from flowd.system.files import UnreadableFileError
from flowd.system.text import is_storable

MISSING_GRACE_S = 1.0


class Follower:
    """Reads transcripts into the batch it is given."""

    def __init__(self, queue: ReaderQueue, scheduler: ReaderScheduler, pipeline: Pipeline) -> None:
        self._queue = queue
        self._scheduler = scheduler
        self._pipeline = pipeline
        self._lines = LineReader()
        self._missing: set[str] = set()
        self._unreadable: set[str] = set()
        self.known = KnownFiles([])

    def read(self, path: str, name: TranscriptName, batch: Batch, max_bytes: int) -> bool:
        """Read about *max_bytes* of what is new at *path* into *batch*; return True if more is left.

        Raise OSError or UnreadableFileError if it cannot be read.
        """
        try:
            if not is_storable(path):
                raise UnreadableFileError("its name is not UTF-8")
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self._note_missing(path, batch)
            return False
        except (OSError, UnreadableFileError):
            self._count_unreadable(path, batch)
            raise
        try:
            return self._read_open(path, name, descriptor, batch, max_bytes)
        except OSError:
            self._count_unreadable(path, batch)
            raise
        finally:
            os.close(descriptor)

    def rebuild(self, session_id: str, reason: StaleMemoryError, batch: Batch) -> None:
        """Read a session again from its start: its memory was stored in an older format."""
        log.info("memory_rebuilt", session=session_id, reason=str(reason))
        batch.counters["rebuilt"] += 1
        self._pipeline.start_over(session_id)
        sources = self.known.of_session(session_id)
        for source in sources:
            source.offset = source.lines = source.records = 0
            source.tail = b""
            batch.add_source(source)
        self._queue.put_backlog(source.path for source in sources)

    @contextmanager
    def rebuilding(self, session_id: str, batch: Batch) -> Iterator[None]:
        """Rebuild the session if the block finds its memory stored in an older format."""
        try:
            yield
        except StaleMemoryError as error:
            self.rebuild(session_id, error, batch)

    def _read_open(
        self, path: str, name: TranscriptName, descriptor: int, batch: Batch, max_bytes: int
    ) -> bool:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"not a regular file: {path}")
        self._unreadable.discard(path)
        recognised = self.known.recognise(path, name, descriptor, status)
        if recognised is None:
            return False
        source = recognised.source
        self._missing.discard(path)
        if recognised.event:
            self._note_event(recognised, batch)
        source.size, source.mtime_ns = status.st_size, as_int64(status.st_mtime_ns)
        try:
            return self._read_lines(source, descriptor, batch, max_bytes)
        except StaleMemoryError as error:
            self.rebuild(source.session_id, error, batch)
            return False

    def _read_lines(self, source: Source, descriptor: int, batch: Batch, max_bytes: int) -> bool:
        until = source.offset + max_bytes
        for chunk in self._lines.chunks(descriptor, source):
            self._pipeline.process(source, chunk, batch)
            if source.offset >= until:
                return source.offset < source.size
        return False

    def _count_unreadable(self, path: str, batch: Batch) -> None:
        """Count a transcript that cannot be read, once."""
        if path not in self._unreadable:
            self._unreadable.add(path)
            batch.counters["unreadable"] += 1

    def _note_event(self, recognised: RecognisedFile, batch: Batch) -> None:
        """Record that the file was renamed, replaced, truncated, rewritten or has returned."""
        source, event = recognised.source, recognised.event
        if recognised.replaced is not None:
            batch.add_source(recognised.replaced)
        batch.counters[event] += 1
        batch.add_source(source)
        log.info("transcript_" + event, path=source.path, offset=source.offset)
        if source.is_subagent or not source.session_id:
            return
        if source.offset == 0:
            self._pipeline.start_over(source.session_id)
        else:
            self._pipeline.touch(source.session_id)

    def _note_missing(self, path: str, batch: Batch) -> None:
        """Record a missing file as deleted if it is still missing after a grace period."""
        source = self.known.at(path)
        if source is None:
            self._missing.discard(path)
            return
        # While a backlog is waiting, one of its paths may be this file's new name.
        if path not in self._missing or self._queue.has_backlog:
            self._missing.add(path)
            self._scheduler.put_later(path, MISSING_GRACE_S)
            return
        self._missing.discard(path)
        self.known.vanish(source)
        try:
            self._pipeline.vanish(source, batch)
        except StaleMemoryError:
            log.warning("vanished_without_memory", path=path)
        log.info("transcript_vanished", path=path, records=source.records, bytes=source.offset)
