"""The main thread's periodic work, and idle detection by wall clock, so that suspended time counts."""

import time
from collections.abc import Callable

from flowd.config.live import LiveSettings
from flowd.daemon.store_gate import StoreGate
from flowd.store.schema import made_at
from flowd.store.sessions import IdleTable, Pause
from flowd.system.errors import StoreError

MINUTE_S = 60


class IdleWatch:
    """Reports each pause once, also across restarts; sessions older than core.db are ignored."""

    def __init__(self, gate: StoreGate, settings: LiveSettings, on_idle: Callable[[Pause], None]) -> None:
        self._gate = gate
        self._settings = settings
        self._on_idle = on_idle
        self._table = IdleTable(gate.database)
        self._version: int | None = None
        self._unreported: list[Pause] = []

    def check(self) -> None:
        """Report the pauses that have become longer than ``idle.after_minutes``."""
        after_minutes = self._settings.current.idle.after_minutes
        if not after_minutes or not self._gate.is_open or self._gate.condition:
            return
        try:
            self._load()
        except StoreError:
            self._version = None
            # The reader reports the condition of core.db; the next check follows soon.
            self._gate.database.drop_connection()
            return
        now = time.time()
        for pause in self._unreported:
            if is_idle(pause.last_activity_at, now, after_minutes):
                self._on_idle(pause)

    def _load(self) -> None:
        """Load the unreported pauses if core.db has changed: there may be thousands of sessions."""
        version = self._gate.database.version()
        if version != self._version:
            self._unreported = self._table.unreported(since=made_at(self._gate.database))
            self._version = version


def is_idle(last_activity_at: float, now: float, after_minutes: float) -> bool:
    """Return True if the gap, in whole minutes, is longer than *after_minutes*."""
    return (now - last_activity_at) // MINUTE_S > after_minutes


TICK_S = 15.0


class Clock:
    """Periodic work; the interval is evaluated each time, so that settings may change."""

    def __init__(self, interval_s: Callable[[], float], action: Callable[[], None]) -> None:
        self._interval_s = interval_s
        self._action = action
        self._last_at = time.monotonic()

    @property
    def next_at(self) -> float:
        """When it is due, by the current interval."""
        return self._last_at + self._interval_s()

    def run_if_due(self) -> None:
        """Run the action if it is due."""
        if time.monotonic() >= self.next_at:
            self._last_at = time.monotonic()
            self._action()


class Clocks:
    """All periodic work of the main thread."""

    def __init__(self) -> None:
        self._clocks: list[Clock] = []

    def every(self, interval_s: Callable[[], float], action: Callable[[], None]) -> None:
        """Run *action* every ``interval_s()`` seconds; it must be quick."""
        self._clocks.append(Clock(interval_s, action))

    def until_next_s(self) -> float:
        """Return the seconds until something is due."""
        return max(0.0, min(clock.next_at for clock in self._clocks) - time.monotonic())

    def run_due(self) -> None:
        """Run everything that is due."""
        for clock in self._clocks:
            clock.run_if_due()
