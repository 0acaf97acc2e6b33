"""What the reader publishes for other threads: progress, totals, the most recent sessions, catching up."""

import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from flowd.daemon.control.status import SessionLine
from flowd.daemon.reading.follower import Follower
from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.pipeline import Pipeline
from flowd.daemon.reading.reconcile import Difference
from flowd.model.facts import StateChanged
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.store.database import Database
from flowd.store.journal import Batch

SESSIONS_SHOWN = 50
RENDERED_FOR_S = 1.0


class RecentSession(NamedTuple):
    """A session's state, and how far its transcript has been read."""

    state: SessionState
    lag_bytes: int
    progress_at: float


class RenderedLines(NamedTuple):
    """The sessions rendered as JSON, valid until *until* (monotonic)."""

    shown: tuple[RecentSession, ...]
    idle_after_s: float
    until: float
    lines: msgspec.Raw


class RecentSessions:
    """A bounded table; ``lines`` reads a tuple that is replaced as a whole, so it needs no lock."""

    def __init__(self) -> None:
        self._entries: dict[str, RecentSession] = {}
        self._shown: tuple[RecentSession, ...] = ()
        self._rendered = RenderedLines((), 0.0, 0.0, msgspec.Raw(b"[]"))

    def update(self, sessions: Iterable[RecentSession]) -> None:
        """Replace *sessions* in the table and publish it; drop all but the latest sessions."""
        self._entries.update((session.state.session_id, session) for session in sessions)
        if len(self._entries) > 2 * SESSIONS_SHOWN:
            latest = sorted(self._entries.items(), key=_latest_first)[:SESSIONS_SHOWN]
            self._entries = dict(latest)
        self._shown = tuple(self._entries.values())

    def active_in(self, root: str) -> list[str]:
        """Return the sessions of the project at *root* that have neither ended nor vanished."""
        return [
            entry.state.session_id
            for entry in self._entries.values()
            if entry.state.project == root and not (entry.state.vanished_at or entry.state.ended_at)
        ]

    def latest_active_in(self, root: str) -> str:
        """Return the session that was active last in the project at *root*, ``""`` if none."""
        latest = sorted(
            self.active_in(root), key=lambda session: latest_activity(self._entries[session].state)
        )
        return latest[-1] if latest else ""

    def lines(self, idle_after_s: float, gone: frozenset[str] = frozenset()) -> msgspec.Raw:
        """Return the latest sessions as JSON, most recent first; *gone* are those whose client was killed.

        Rendered again when a session changed or the rendering expired (benchmark row: status round trip).
        """
        shown, rendered, now = self._shown, self._rendered, time.monotonic()
        if rendered.shown is not shown or rendered.idle_after_s != idle_after_s or rendered.until < now:
            entries = sorted(shown, key=lambda entry: -latest_activity(entry.state))[:SESSIONS_SHOWN]
            lines = [_line(entry, idle_after_s, gone) for entry in entries]
            encoded = msgspec.Raw(msgspec.json.encode(lines))
            rendered = self._rendered = RenderedLines(shown, idle_after_s, now + RENDERED_FOR_S, encoded)
        return rendered.lines


def _latest_first(item: tuple[str, RecentSession]) -> float:
    return -latest_activity(item[1].state)


def _line(entry: RecentSession, idle_after_s: float, gone: frozenset[str]) -> SessionLine:
    state = entry.state
    return SessionLine(
        session_id=state.session_id,
        project=state.project or state.cwd,
        title=state.title or state.goal,
        phase=phase_of(state, idle_after_s, gone),
        last_activity_at=latest_activity(state),
        last_progress_at=entry.progress_at,
        lag_bytes=entry.lag_bytes,
        records=state.records,
    )


class ReaderProgress(NamedTuple):
    """How far the reader is: replaced as a whole, never changed."""

    transcripts: int = 0
    sessions: int = 0
    last_commit_at: float = 0.0
    last_reconciled_at: float = 0.0
    scan_s: float = 0.0
    catching_up: bool = False


class ReaderStatus:
    """Progress, totals and recent sessions: written by the reader, read by other threads without a lock."""

    def __init__(self) -> None:
        self.progress = ReaderProgress()
        self.totals: dict[str, int] = {}
        self.recent = RecentSessions()

    def load(self, totals: dict[str, int], states: list[SessionState]) -> None:
        """Start from what core.db holds."""
        self.totals = totals
        self.recent.update(RecentSession(state, 0, latest_activity(state)) for state in states)

    def set_catching_up(self, catching_up: bool) -> None:
        """Record whether a backlog is being read."""
        self.progress = self.progress._replace(catching_up=catching_up)

    def note_scan(self, difference: Difference, scan_s: float) -> None:
        """Record a comparison of everything with the disk."""
        self.progress = self.progress._replace(
            transcripts=difference.seen,
            sessions=difference.sessions,
            last_reconciled_at=time.time(),
            scan_s=scan_s,
        )

    def note_commit(self, batch: Batch, known: KnownFiles) -> None:
        """Record what *batch* has stored."""
        now = time.time()
        totals = dict(self.totals)
        for name, value in batch.counters.items():
            totals[name] = totals.get(name, 0) + value
        self.totals = totals
        lags = {
            source.session_id: max(0, source.size - source.offset)
            for source in batch.sources.values()
            if not source.is_subagent
        }
        self.recent.update(
            RecentSession(fact.body.state, lags.get(fact.session_id, 0), now)
            for fact in batch.facts
            if isinstance(fact.body, StateChanged)
        )
        self.progress = self.progress._replace(last_commit_at=now)
        if len(known.by_path) > self.progress.transcripts:
            self._recount(known)

    def _recount(self, known: KnownFiles) -> None:
        live = known.by_path.values()
        sessions = sum(not source.is_subagent for source in live)
        self.progress = self.progress._replace(transcripts=len(live), sessions=sessions)


# Other threads must get the interpreter soon (benchmark row: status during catch-up).
CATCHING_UP_SWITCH_S = 0.0001
USUAL_SWITCH_S = 0.005
# Records of known files that stay unpacked: live transcripts are looked up again and again (benchmark row:
# 200 sessions x 20 lines/s; packing all of them takes 5 % more CPU).
MAX_UNPACKED = 256


class CatchUp:
    """Switches the reader between following live sessions and reading a backlog."""

    def __init__(
        self, status: ReaderStatus, follower: Follower, pipeline: Pipeline, database: Database
    ) -> None:
        self._status = status
        self._follower = follower
        self._pipeline = pipeline
        self._database = database

    def begin(self) -> None:
        """Record that a backlog is being read."""
        if not self._status.progress.catching_up:
            sys.setswitchinterval(CATCHING_UP_SWITCH_S)
            self._status.set_catching_up(True)

    def release_memory(self, *, done: bool) -> None:
        """Release what only reading needed; everything must be stored. *done*: the backlog is empty."""
        catching_up = self._status.progress.catching_up
        self._follower.known.pack(0 if catching_up else MAX_UNPACKED)
        if not catching_up:
            return
        had_inactive = self._pipeline.release_memory()
        if done:
            sys.setswitchinterval(USUAL_SWITCH_S)
            self._status.set_catching_up(False)
            if had_inactive:
                self._database.shrink()
