"""Noticing that a session has gone quiet: by the wall clock, so that a suspended laptop counts."""

import time
from collections.abc import Callable

from flowd.config.live import LiveSettings
from flowd.daemon.store_gate import StoreGate
from flowd.store.idle import IdleTable, Pause
from flowd.store.schema import made_at
from flowd.system.errors import StoreError

MINUTE_S = 60


class IdleWatch:
    """Tells each pause once, also across restarts; sessions older than core.db are history."""

    def __init__(self, gate: StoreGate, settings: LiveSettings, tell: Callable[[Pause], None]) -> None:
        self._gate = gate
        self._settings = settings
        self._tell = tell
        self._table = IdleTable(gate.database)
        self._version: int | None = None
        self._untold: list[Pause] = []

    def check(self) -> None:
        """Tell the pauses that have become longer than the setting allows."""
        after_minutes = self._settings.current.idle.after_minutes
        if not after_minutes or not self._gate.is_open or self._gate.condition:
            return
        try:
            self._look()
        except StoreError:
            self._version = None
            # The reader owns the gate and reports it; the next check comes in a moment.
            self._gate.database.drop_connection()
            return
        now = time.time()
        for pause in self._untold:
            if is_idle(pause.last_activity_at, now, after_minutes):
                self._tell(pause)

    def _look(self) -> None:
        """Ask for the pauses anew only when core.db has changed: thousands of sessions may be known."""
        version = self._gate.database.version()
        if version != self._version:
            self._untold = self._table.unreported(since=made_at(self._gate.database))
            self._version = version


def is_idle(last_activity_at: float, now: float, after_minutes: float) -> bool:
    """Say whether the gap, in whole minutes, is strictly longer than *after_minutes*."""
    return (now - last_activity_at) // MINUTE_S > after_minutes


TICK_S = 15.0


class Clock:
    """Something due every so often; the interval is asked anew each time, so settings may change."""

    def __init__(self, interval_s: Callable[[], float], action: Callable[[], None]) -> None:
        self._interval_s = interval_s
        self._action = action
        self._last_at = time.monotonic()

    @property
    def next_at(self) -> float:
        """When it is due, by the interval of now."""
        return self._last_at + self._interval_s()

    def run_if_due(self) -> None:
        """Act if it is time."""
        if time.monotonic() >= self.next_at:
            self._last_at = time.monotonic()
            self._action()


class Clocks:
    """All clocks of the main thread."""

    def __init__(self) -> None:
        self._clocks: list[Clock] = []

    def every(self, interval_s: Callable[[], float], action: Callable[[], None]) -> None:
        """Have *action* run every ``interval_s()`` seconds; it must be quick."""
        self._clocks.append(Clock(interval_s, action))

    def until_next_s(self) -> float:
        """Return how long nothing is due."""
        return max(0.0, min(clock.next_at for clock in self._clocks) - time.monotonic())

    def run_due(self) -> None:
        """Run what is due."""
        for clock in self._clocks:
            clock.run_if_due()
