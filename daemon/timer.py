"""The timer thread: calls functions after a delay."""

import math
import threading
import time
from collections.abc import Callable, Hashable

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
