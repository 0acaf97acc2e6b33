"""The idle timer: last activity per session, and the marker ``conductor/.last_activity``."""

import os
from contextlib import suppress

from flowd.model.facts import Fact, StateChanged
from flowd.model.session import latest_activity
from flowd.store.database import Database
from flowd.store.idle import IdleTable, Pause

CONDUCTOR = "conductor"
MARKER = ".last_activity"


class IdleTimerSink:
    """Notes activity; the daemon's clock decides when a pause is long enough."""

    name = "idle_timer"
    debounce_s = 0.2
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._table = IdleTable(database)
        self._held: list[Pause] = []

    def key(self, fact: Fact) -> str | None:
        """Return the session of a state; nothing else says that someone worked."""
        return fact.session_id if isinstance(fact.body, StateChanged) else None

    def accept(self, fact: Fact) -> None:
        """Hold the activity until ``flush``; touch the project's marker at once."""
        if not isinstance(fact.body, StateChanged):
            return
        state = fact.body.state
        last = latest_activity(state)
        self._held.append(Pause(state.session_id, state.project, last))
        if state.project:
            touch_marker(state.project, last)

    def flush(self) -> None:
        """Store what is held."""
        held, self._held = self._held, []
        self._table.note(held)


def touch_marker(project: str, last_activity_at: float) -> None:
    """Set the marker's time to *last_activity_at*, never back; do nothing where there is no conductor.

    A marker that is made here keeps the time of its making: old work must not look like a pause.
    """
    folder = os.path.join(project, CONDUCTOR)
    with suppress(OSError):  # a marker is a courtesy: a read-only checkout must not hold up the timer
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
