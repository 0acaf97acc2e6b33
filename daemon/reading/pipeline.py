"""Turn transcript lines into facts: decode them, feed the session's memory, render its state."""

import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

from flowd.config.logs import log
from flowd.daemon.projects.watchers import ProjectResolver
from flowd.daemon.reading.tailer import Chunk
from flowd.extractors.fields.activity import enter_branch, note_entrypoint
from flowd.extractors.transcript.protocol import Note
from flowd.extractors.transcript.records import Decoded, Record, decode_lines
from flowd.extractors.transcript.session import SessionMemory, mask_records
from flowd.model.facts import Fact, TranscriptVanished, state_fact
from flowd.model.session import SessionState
from flowd.redaction.live import LiveRedactor
from flowd.store.journal import Batch
from flowd.store.sources import Source
from flowd.system.times import iso_millis, seconds

MEMORIES_KEPT = 256
ACTIVE_S = 900.0

LoadMemory = Callable[[str], bytes | None]


class Pipeline:
    """Feeds chunks to the sessions' memories and adds the resulting facts to a batch."""

    def __init__(self, load_memory: LoadMemory, projects: ProjectResolver, redact: LiveRedactor) -> None:
        self._load_memory = load_memory
        self._redact = redact
        self._projects = projects
        self._memories: OrderedDict[str, SessionMemory] = OrderedDict()
        self._changed: set[str] = set()
        self.unknown_types = UnknownTypes()

    def process(self, source: Source, chunk: Chunk, batch: Batch) -> None:
        """Feed *chunk* to its session's memory and advance *source*; facts and offset go into *batch*."""
        decoded = decode_lines(chunk.data, source.lines + 1)
        _clamp_times(decoded.records)
        for project in self._projects_of(source.session_id, decoded):
            mask_records(decoded, self._redact.custom_of(project))
        if not source.session_id:  # a subagent beside the sessions: its records name the parent
            session_ids = (record.session_id for record in decoded.records)
            source.session_id = next(filter(None, session_ids), "")
        if source.session_id:
            self._feed(source, decoded, batch)
        _count(decoded, chunk, batch)
        if decoded.unknown_types:
            self.unknown_types.count(decoded.unknown_types, batch)
        source.offset, source.tail = chunk.next_offset, chunk.tail
        source.lines += decoded.lines
        source.records += len(decoded.records)
        source.last_read_at = time.time()
        batch.add_source(source)
        batch.bytes_read += len(chunk.data)

    def _projects_of(self, session_id: str, decoded: Decoded) -> set[str]:
        """Return the roots of the projects that the records name."""
        directories = {record.cwd for record in decoded.records if record.cwd}
        if not directories:
            return {""}
        first = self._memory(session_id).part("activity").first_cwd if session_id else ""
        return {self._projects.resolve(cwd, first or cwd).root for cwd in directories}

    @property
    def changed(self) -> int:
        """Number of sessions that changed since the last ``finish``."""
        return len(self._changed)

    def start_over(self, session_id: str) -> None:
        """Reset the memory of a session whose transcript starts again from zero."""
        self._memories[session_id] = SessionMemory()
        self.touch(session_id)

    def touch(self, session_id: str) -> None:
        """Store the session's state again: something about its file has changed."""
        self._changed.add(session_id)

    def vanish(self, source: Source, batch: Batch) -> None:
        """Record that *source*'s file was deleted, with what was read of it."""
        batch.add_source(source)
        batch.counters["vanished"] += 1
        if source.is_subagent or not source.session_id:
            return
        now = time.time()
        if source.session_id in self._changed:  # its last state is the one recorded here
            self._changed.discard(source.session_id)
            batch.memories[source.session_id] = self._memory(source.session_id).saved()
        state = self.state(source.session_id, vanished_at=now)
        body = TranscriptVanished(source.path, source.offset, source.records)
        key = f"{source.session_id}:vanished:{source.id}:{source.offset}"
        batch.facts.append(Fact(key, source.session_id, state.project, now, body))
        batch.facts.append(state_fact(state))

    def set_branch(self, branch: str, session_ids: list[str]) -> None:
        """Set the branch of these sessions, until a record names another."""
        for session_id in session_ids:
            enter_branch(self._memory(session_id).part("activity"), branch)
            self._changed.add(session_id)

    def note_entrypoint(self, session_id: str, entrypoint: str) -> None:
        """Remember how the client of the session was started; old clients pass it to hooks only."""
        memory = self._memory(session_id).part("activity")
        if entrypoint and entrypoint != memory.entrypoint:
            note_entrypoint(memory, entrypoint)
            if self.knows(session_id):
                self._changed.add(session_id)

    def end(self, session_id: str, at: float) -> None:
        """Mark the session as ended; a later record reopens it."""
        self._memory(session_id).part("lifecycle").ended_at = at
        self._changed.add(session_id)

    def stop(self, session_id: str, at: float) -> None:
        """Mark the turn of the session as over; a later record goes on."""
        self._memory(session_id).part("lifecycle").stopped_at = at
        self._changed.add(session_id)

    def state(self, session_id: str, **known: float) -> SessionState:
        """Return the session's current state; *known* overrides fields of it."""
        memory = self._memory(session_id)
        activity = memory.part("activity")
        place = self._projects.resolve(activity.cwd, activity.first_cwd)
        return memory.state(session_id, place, **known)

    def knows(self, session_id: str) -> bool:
        """Return True if any record of the session has been read."""
        return bool(self._memory(session_id).part("activity").records)

    def finish(self, batch: Batch) -> None:
        """Add the current state of every changed session to *batch*."""
        # Used longest ago first: sessions at rest, and all beyond the limit. They are stored.
        while (oldest := next(iter(self._memories), None)) is not None and oldest not in self._changed:
            touched_at = self._memories[oldest].part("activity").touched_at
            # Untouched: only a hook has spoken of it so far, and nothing of that is stored.
            is_resting = 0 < touched_at < time.time() - ACTIVE_S
            if not is_resting and len(self._memories) <= MEMORIES_KEPT:
                break
            del self._memories[oldest]
        changed, self._changed = self._changed, set()
        for session_id in changed:
            batch.memories[session_id] = self._memory(session_id).saved()
            try:
                batch.facts.append(state_fact(self.state(session_id)))
            except Exception as error:  # noqa: BLE001 one session must not stop the others: it keeps its last good state
                batch.counters["extractor_errors"] += 1
                log.error("state_failed", session=session_id, error=repr(error), exc_info=True)

    def release_memory(self) -> bool:
        """Drop the stored memories of inactive sessions; return True if there were any."""
        since = time.time() - ACTIVE_S
        inactive = [
            session_id
            for session_id, memory in self._memories.items()
            if memory.part("activity").touched_at < since and session_id not in self._changed
        ]
        for session_id in inactive:
            del self._memories[session_id]
        return bool(inactive)

    def reset(self) -> None:
        """Drop all memories: they may be ahead of what is stored."""
        self._memories.clear()
        self._changed.clear()

    def _feed(self, source: Source, decoded: Decoded, batch: Batch) -> None:
        memory = self._memory(source.session_id)
        if source.is_subagent:
            for record in decoded.records:
                record.is_sidechain = True

        def failed(line: int, error: Exception) -> None:
            batch.counters["extractor_errors"] += 1
            log.error("extractor_failed", path=source.path, line=line, error=repr(error), exc_info=True)

        notes = memory.feed_all(decoded.records, decoded.line_numbers, failed)
        activity = memory.part("activity")
        if notes:
            project = self._projects.resolve(activity.cwd, activity.first_cwd).root
            batch.facts.extend(_fact(note, source.session_id, project) for note in notes)
        now = time.time()
        activity.touched_at = min(max(activity.touched_at, source.mtime_ns / 1e9), now)
        if seconds(activity.last) > now:  # stored by an earlier version
            activity.last = iso_millis(now)
        self._changed.add(source.session_id)

    def _memory(self, session_id: str) -> SessionMemory:
        memory = self._memories.get(session_id)
        if memory is None:
            stored = self._load_memory(session_id)
            memory = SessionMemory.restored(stored) if stored else SessionMemory()
            self._memories[session_id] = memory
        self._memories.move_to_end(session_id)
        return memory


def _fact(note: Note, session_id: str, project: str) -> Fact:
    return Fact(f"{session_id}:{note.key}", session_id, project, seconds(note.timestamp), note.body)


def _clamp_times(records: list[Record]) -> None:
    """Date records of the future now, and drop times that are none: later sessions would never be newer."""
    now = iso_millis(time.time())
    for record in records:
        # Nearly all times are written alike, and then compare as text.
        if record.timestamp and record.timestamp > now:
            moment = seconds(record.timestamp)
            if not moment:
                record.timestamp = None
            elif moment > seconds(now):
                record.timestamp = now


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


MAX_NAMES = 20
OTHERS = "other"
_PREFIX = "unknown_type:"
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


class UnknownTypes:
    """The names that have counters; what comes after the last of them is counted together."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def load(self, totals: Mapping[str, int]) -> None:
        """Start with the names that core.db has counters for."""
        self._names = set(count_by_name(totals)) - {OTHERS}

    def count(self, found: Mapping[str, int], batch: Batch) -> None:
        """Add what was *found* to the counters of *batch*."""
        for name, number in found.items():
            batch.counters[_PREFIX + self._counted_as(name)] += number

    def _counted_as(self, name: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(name) is not None
        if not is_plain or (name not in self._names and len(self._names) >= MAX_NAMES):
            return OTHERS
        self._names.add(name)
        return name


def count_by_name(totals: Mapping[str, int]) -> dict[str, int]:
    """Return the unknown types among the counters *totals*, the most frequent first."""
    found = [(name.removeprefix(_PREFIX), count) for name, count in totals.items() if is_unknown_type(name)]
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


def is_unknown_type(counter: str) -> bool:
    """Return True if *counter* counts an unknown type."""
    return counter.startswith(_PREFIX)
