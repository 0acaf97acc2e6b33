"""From the lines of a transcript to facts: decode, feed the session's memory, describe its state."""

import time
from collections import OrderedDict
from collections.abc import Callable

from flowd.config.logs import log
from flowd.daemon.projects.resolver import ProjectResolver
from flowd.daemon.reading.tailer import Chunk
from flowd.extractors.transcript.protocol import Note, ProjectPlace
from flowd.extractors.transcript.records import Decoded, decode_lines
from flowd.extractors.transcript.session import SessionMemory
from flowd.model.facts import Fact, TranscriptVanished, state_fact
from flowd.model.session import SessionState
from flowd.store.journal import Batch
from flowd.store.sources import Source
from flowd.system.times import seconds

MEMORIES_KEPT = 256
AT_WORK_S = 3600.0

LoadMemory = Callable[[str], bytes | None]


class Pipeline:
    """Turns chunks into a batch. Pure but for the clock and the places it asks for."""

    def __init__(self, load_memory: LoadMemory, places: ProjectResolver) -> None:
        self._load_memory = load_memory
        self._places = places
        self._memories: OrderedDict[str, SessionMemory] = OrderedDict()
        self._moved: set[str] = set()

    def take(self, source: Source, chunk: Chunk, batch: Batch) -> None:
        """Feed *chunk* to its session's memory and move *source* on, all within *batch*."""
        decoded = decode_lines(chunk.data, source.lines + 1)
        self._adopt(source, decoded)
        if source.session_id:
            self._feed(source, decoded, batch)
        _count(decoded, chunk, batch)
        source.offset, source.tail = chunk.next_offset, chunk.tail
        source.lines += decoded.lines
        source.records += len(decoded.records)
        source.last_read_at = time.time()
        batch.add_source(source)
        batch.bytes_read += len(chunk.data)

    @property
    def moved(self) -> int:
        """How many sessions have moved since the last ``finish``."""
        return len(self._moved)

    def start_over(self, session_id: str) -> None:
        """Forget what was remembered of a session whose transcript begins anew."""
        self._memories[session_id] = SessionMemory()
        self.touch(session_id)

    def touch(self, session_id: str) -> None:
        """Have the session's state told anew: something about its file has changed."""
        self._moved.add(session_id)

    def vanish(self, source: Source, batch: Batch) -> None:
        """Record that *source* is gone from disk, with what was kept of it."""
        batch.add_source(source)
        batch.counters["vanished"] += 1
        if source.is_subagent or not source.session_id:
            return
        now = time.time()
        if source.session_id in self._moved:  # its last state is the one without a transcript
            self._moved.discard(source.session_id)
            batch.memories[source.session_id] = self._memory(source.session_id).saved()
        state = self.state(source.session_id, vanished_at=now)
        body = TranscriptVanished(source.path, source.offset, source.records)
        key = f"{source.session_id}:vanished:{source.id}:{source.offset}"
        batch.facts.append(Fact(key, source.session_id, state.project, now, body))
        batch.facts.append(state_fact(state))

    def move_branch(self, branch: str, session_ids: list[str]) -> None:
        """Take it that these sessions now work on *branch*, until a record says otherwise."""
        for session_id in session_ids:
            self._memory(session_id).part("activity").branch = branch
            self._moved.add(session_id)

    def end(self, session_id: str, at: float) -> None:
        """Take it that the session is over; a later record says otherwise by its time."""
        self._memory(session_id).part("lifecycle").ended_at = at
        self._moved.add(session_id)

    def state(self, session_id: str, **known: float) -> SessionState:
        """Return the session's present state; *known* are fields that the caller knows better."""
        memory = self._memory(session_id)
        return memory.state(session_id, self._place(memory), **known)

    def knows(self, session_id: str) -> bool:
        """Say whether any record of the session was ever read."""
        return bool(self._memory(session_id).part("activity").records)

    def finish(self, batch: Batch) -> None:
        """Add the present state of every session that *batch* moved."""
        moved, self._moved = self._moved, set()
        for session_id in moved:
            batch.memories[session_id] = self._memory(session_id).saved()
            try:
                batch.facts.append(state_fact(self.state(session_id)))
            except Exception as error:  # noqa: BLE001 same: the session keeps its last good state
                batch.counters["extractor_errors"] += 1
                log.error("state_failed", session=session_id, error=repr(error), exc_info=True)
        while len(self._memories) > MEMORIES_KEPT:
            self._memories.popitem(last=False)

    def release_memory(self) -> bool:
        """Drop the memories of sessions that nobody works in, once they are stored; say if there were any."""
        since = time.time() - AT_WORK_S
        at_rest = [
            session_id
            for session_id, memory in self._memories.items()
            if memory.part("activity").touched_at < since and session_id not in self._moved
        ]
        for session_id in at_rest:
            del self._memories[session_id]
        return bool(at_rest)

    def forget_all(self) -> None:
        """Drop every memory that may be ahead of what is stored."""
        self._memories.clear()
        self._moved.clear()

    def _adopt(self, source: Source, decoded: Decoded) -> None:
        if not source.session_id:  # a subagent beside the sessions: its records name the parent
            named = (record.session_id for record in decoded.records if record.session_id)
            source.session_id = next(named, "")

    def _feed(self, source: Source, decoded: Decoded, batch: Batch) -> None:
        memory = self._memory(source.session_id)
        if source.is_subagent:
            for record in decoded.records:
                record.is_sidechain = True

        def failed(line: int, error: Exception) -> None:
            batch.counters["extractor_errors"] += 1
            log.error("extractor_failed", path=source.path, line=line, error=repr(error), exc_info=True)

        notes = memory.feed_all(decoded.records, decoded.line_numbers, failed)
        if notes:
            project = self._place(memory).root
            batch.facts.extend(_fact(note, source.session_id, project) for note in notes)
        activity = memory.part("activity")
        activity.touched_at = max(activity.touched_at, source.mtime_ns / 1e9)
        self._moved.add(source.session_id)

    def _memory(self, session_id: str) -> SessionMemory:
        memory = self._memories.get(session_id)
        if memory is None:
            stored = self._load_memory(session_id)
            memory = SessionMemory.restored(stored) if stored else SessionMemory()
            self._memories[session_id] = memory
        self._memories.move_to_end(session_id)
        return memory

    def _place(self, memory: SessionMemory) -> ProjectPlace:
        activity = memory.part("activity")
        return self._places.of(activity.cwd, activity.first_cwd)


def _fact(note: Note, session_id: str, project: str) -> Fact:
    return Fact(f"{session_id}:{note.key}", session_id, project, seconds(note.timestamp), note.body)


def _count(decoded: Decoded, chunk: Chunk, batch: Batch) -> None:
    counters = batch.counters
    counters["lines"] += decoded.lines
    counters["records"] += len(decoded.records)
    counters["bytes"] += len(chunk.data)
    for name, value in (
        ("bad_lines", decoded.bad_lines),
        ("glued_lines", decoded.glued_lines),
        ("misfit_records", decoded.misfit_records),
        ("unknown_types", decoded.unknown_types.total()),
        ("oversized_lines", int(chunk.oversized)),
    ):
        if value:
            counters[name] += value
