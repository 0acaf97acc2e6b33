"""How many requests are let through in a while."""

import time
from collections.abc import Callable


class Bucket:
    """Holds a minute's worth of requests and refills evenly."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._left = float(per_minute)
        self._clock = clock
        self._filled_at = clock()

    def take(self) -> float:
        """Take one request out and return 0, or return after how many seconds there will be one."""
        now = self._clock()
        refill = (now - self._filled_at) * self._most / 60
        self._left = min(self._most, self._left + refill)
        self._filled_at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) * 60 / self._most
