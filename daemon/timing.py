"""The daemon's timing: delayed calls, periodic work, idle detection, and pauses that limit recurring work."""

import math
import threading
import time
from collections.abc import Callable, Hashable

from flowd.config.settings import LiveSettings
from flowd.daemon.store_gate import StoreGate
from flowd.store.schema import made_at
from flowd.store.sessions import IdleTable, Pause
from flowd.system.errors import StoreError

# Due times are rounded up to a multiple of this, so that one wake-up serves many calls.
SLOT_S = 0.05


class Timer:
    """Calls functions after a delay, in its own thread. They must be quick and must not raise."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: dict[Hashable, tuple[float, Callable[[], None]]] = {}
        self._wakes_at = -math.inf
        self._closed = False

    @property
    def pending(self) -> int:
        """Number of calls that are not due yet."""
        return len(self._calls)

    def call_later(self, delay_s: float, key: Hashable, function: Callable[[], None]) -> None:
        """Call *function* after *delay_s*; do nothing while another call with *key* is pending."""
        due_at = ((time.monotonic() + delay_s) // SLOT_S + 1) * SLOT_S
        with self._changed:
            if key not in self._calls:
                self._calls[key] = due_at, function
                if due_at < self._wakes_at:
                    self._changed.notify()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread call *beat*."""
        self.call_later(0.0, "beat", beat)

    def run(self) -> None:
        """Call what becomes due until closed."""
        while self._wait():
            self.run_due(time.monotonic())

    def close(self) -> None:
        """Stop; pending calls are dropped."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def run_due(self, now: float) -> None:
        """Call everything that is due at *now* (monotonic)."""
        with self._changed:
            due = [(key, function) for key, (due_at, function) in self._calls.items() if due_at <= now]
            for key, _ in due:
                del self._calls[key]
        for _, function in due:
            function()

    def _wait(self) -> bool:
        """Wait until a call is due; return False when closed."""
        with self._changed:
            while not self._closed:
                next_at = min((due_at for due_at, _ in self._calls.values()), default=math.inf)
                wait_s = next_at - time.monotonic()
                if wait_s <= 0:
                    break
                self._wakes_at = next_at
                self._changed.wait(wait_s if wait_s < math.inf else None)
                self._wakes_at = -math.inf  # not waiting: nobody needs to wake it
            return not self._closed


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


SMOOTHING = 0.2


class Pace:
    """Computes the pause between two turns of one key.

    A key that comes after a pause never waits. A key that comes again and again pauses between its turns,
    longer the more keys are waiting and the more each turn costs.
    """

    def __init__(self, share: float, max_rest_s: float) -> None:
        self._share = share
        self._max_rest_s = max_rest_s
        self._turn_s = 0.0

    def spent(self, seconds: float, turns: int) -> None:
        """Record that *turns* turns took *seconds* of processor time."""
        self._turn_s += SMOOTHING * (seconds / turns - self._turn_s)

    def rest_s(self, min_rest_s: float, keys: int) -> float:
        """Return the pause after a turn while *keys* keys are waiting."""
        return max(min_rest_s, min(self._max_rest_s, self._turn_s * keys / self._share))
