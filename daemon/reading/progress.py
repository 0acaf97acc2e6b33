"""What the reader publishes for status."""

import time
from typing import NamedTuple

from flowd.daemon.reading.identity import KnownFiles
from flowd.daemon.reading.recent import RecentSession, RecentSessions
from flowd.daemon.reading.reconcile import Difference
from flowd.model.facts import StateChanged
from flowd.model.session import SessionState, latest_activity
from flowd.store.journal import Batch


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
