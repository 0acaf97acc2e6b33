"""Following one transcript: who it is, what is new in it, what befell it."""

import os
import stat
from collections.abc import Callable

from flowd.config.logs import log
from flowd.daemon.reading.identity import KnownFiles, RecognisedFile
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.tailer import LineReader
from flowd.extractors.transcript.paths import TranscriptName
from flowd.extractors.transcript.session import StaleMemoryError
from flowd.store.journal import Batch
from flowd.store.sources import Source

MISSING_GRACE_S = 1.0


class Follower:
    """Reads transcripts into the present batch; *between* is called after each chunk of a file."""

    def __init__(self, hints: ReaderQueue, pipeline: Pipeline, between: Callable[[Source], None]) -> None:
        self._hints = hints
        self._pipeline = pipeline
        self._between = between
        self._lines = LineReader()
        self._missing: set[str] = set()
        self._unreadable: set[str] = set()
        self.known = KnownFiles([])
        self.batch = Batch()

    def look(self, path: str, name: TranscriptName) -> None:
        """Read what is new in the transcript at *path*."""
        try:
            path.encode()  # core.db keeps text: a name that is none is passed over
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            self._miss(path)
            return
        except (OSError, ValueError) as error:
            self._pass_over(path, error)
            return
        try:
            self._read(path, name, descriptor)
        except OSError as error:
            self._pass_over(path, error)
        finally:
            os.close(descriptor)

    def rebuild(self, session_id: str, reason: StaleMemoryError) -> None:
        """Read a session again from its start: an upgrade changed what is remembered of it."""
        log.info("memory_rebuilt", session=session_id, reason=str(reason))
        self.batch.counters["rebuilt"] += 1
        self._pipeline.start_over(session_id)
        mine = self.known.of_session(session_id)
        for source in mine:
            source.offset = source.lines = source.records = 0
            source.tail = b""
            self.batch.add_source(source)
        self._hints.put_backlog(source.path for source in mine)

    def _pass_over(self, path: str, error: Exception) -> None:
        """Count a transcript that cannot be read, and say so once."""
        if path not in self._unreadable:
            self._unreadable.add(path)
            self.batch.counters["unreadable"] += 1
            log.warning("transcript_unreadable", path=path, error=str(error))

    def _read(self, path: str, name: TranscriptName, descriptor: int) -> None:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(f"not a regular file: {path}")
        self._unreadable.discard(path)
        recognised = self.known.recognise(path, name, descriptor, status)
        if recognised is None:
            return
        source = recognised.source
        self._note_event(recognised)
        source.size, source.mtime_ns = status.st_size, status.st_mtime_ns
        try:
            self._take_all(source, descriptor)
        except StaleMemoryError as error:
            self.rebuild(source.session_id, error)

    def _take_all(self, source: Source, descriptor: int) -> None:
        for chunk in self._lines.chunks(descriptor, source):
            self._pipeline.take(source, chunk, self.batch)
            self._between(source)
            if self._hints.closed or source.state != "live":
                return

    def _note_event(self, recognised: RecognisedFile) -> None:
        source, event = recognised.source, recognised.event
        self._missing.discard(source.path)
        if recognised.replaced is not None:
            self.batch.add_source(recognised.replaced)
        if not event:
            return
        self.batch.counters[event] += 1
        self.batch.add_source(source)
        log.info("transcript_" + event, path=source.path, offset=source.offset)
        if source.is_subagent or not source.session_id:
            return
        if source.offset == 0:
            self._pipeline.start_over(source.session_id)
        else:
            self._pipeline.touch(source.session_id)

    def _miss(self, path: str) -> None:
        """Take a missing file as vanished only when it is still missing a moment later."""
        source = self.known.at(path)
        if source is None:
            self._missing.discard(path)
            return
        # While older changes wait, one of them may be this file under its new name.
        if path not in self._missing or self._hints.has_backlog:
            self._missing.add(path)
            self._hints.put_later(path, MISSING_GRACE_S)
            return
        self._missing.discard(path)
        self.known.vanish(source)
        try:
            self._pipeline.vanish(source, self.batch)
        except StaleMemoryError:
            log.warning("vanished_without_memory", path=path)
        log.info("transcript_vanished", path=path, records=source.records, bytes=source.offset)
