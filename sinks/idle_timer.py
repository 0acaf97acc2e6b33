"""The idle timer: last activity per session, and the marker ``conductor/.last_activity``."""

import os
from contextlib import suppress

from flowd.model.facts import Fact, StateChanged
from flowd.model.session import latest_activity
from flowd.store.database import Database
from flowd.store.sessions import IdleTable, Pause

CONDUCTOR = "conductor"
MARKER = ".last_activity"


class IdleTimerSink:
    """Records activity; the daemon's clock decides when a pause is long enough."""

    name = "idle_timer"
    debounce_s = 0.2
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._table = IdleTable(database)
        self._pending: list[Pause] = []

    def key(self, fact: Fact) -> str | None:
        """Return the session of a state; other facts do not show activity."""
        return fact.session_id if isinstance(fact.body, StateChanged) else None

    def accept(self, fact: Fact) -> None:
        """Keep the activity until ``flush``; touch the project's marker at once."""
        if not isinstance(fact.body, StateChanged):
            return
        state = fact.body.state
        last = latest_activity(state)
        self._pending.append(Pause(state.session_id, state.project, last))
        if state.project:
            touch_marker(state.project, last)

    def flush(self) -> None:
        """Store the pending activity."""
        pauses, self._pending = self._pending, []
        self._table.note(pauses)


def touch_marker(project: str, last_activity_at: float) -> None:
    """Move the marker's time forward to *last_activity_at*; do nothing without a conductor directory.

    A new marker keeps its creation time: old work must not look like a pause.
    """
    folder = os.path.join(project, CONDUCTOR)
    with suppress(OSError):  # the marker is optional: a read-only checkout must not stop the timer
        if not os.path.isdir(folder) or os.path.islink(folder):  # noqa: PTH112, PTH114 hot path
            return
        descriptor = os.open(
            os.path.join(folder, MARKER), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644
        )
        try:
            if os.fstat(descriptor).st_mtime < last_activity_at:
                os.utime(descriptor, (last_activity_at, last_activity_at))
        finally:
            os.close(descriptor)
