"""What the daemon does by the clock: reconcile, poll, notice idleness, tell the manager it lives."""

import time
from collections.abc import Callable

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
