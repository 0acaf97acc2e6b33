"""The parts of a running daemon: threads that are restarted when they die, and given up when they must be."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec

from flowd.config.logs import log
from flowd.daemon.control.status import ThreadLine

MAX_CRASHES = 3
DEATHS_WITHIN_S = 60.0
FIRST_RESTART_S = 0.2


class Runnable(Protocol):
    """Something whose ``run`` lasts until it is told to stop."""

    def run(self) -> None:
        """Work until stopped."""
        ...


class SupervisedThread:
    """One thread with a name. It dies alone: the supervisor hears of it and starts it again."""

    def __init__(self, name: str, make: Callable[[], Runnable], on_death: Callable[[str], None]) -> None:
        self.name = name
        self._make = make
        self._on_death = on_death
        self._deaths: deque[float] = deque(maxlen=MAX_CRASHES)
        self._thread: threading.Thread | None = None
        self.status = ThreadLine(name=name, state="restarting", deaths=0, last_error="")
        self.restart_at: float | None = None

    def start(self) -> None:
        """Start the thread, with a fresh object."""
        self.restart_at = None
        try:
            runnable = self._make()
        except Exception as error:
            if self._thread is None:
                raise  # the very first start: whoever starts flowd should see why
            self._died(error)
            return
        self._thread = threading.Thread(
            target=self._live, args=(runnable,), name=f"flowd-{self.name}", daemon=True
        )
        self._tell(state="running")
        self._thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; say whether it did."""
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _live(self, runnable: Runnable) -> None:
        try:
            runnable.run()
            self._tell(state="restarting")
        except Exception as error:  # noqa: BLE001 the top of a thread: told to the supervisor, never lost
            self._died(error)

    def _died(self, error: Exception) -> None:
        now = time.monotonic()
        self._deaths.append(now)
        words = f"{type(error).__name__}: {error}"
        too_often = len(self._deaths) == MAX_CRASHES and now - self._deaths[0] < DEATHS_WITHIN_S
        state = "failed" if too_often else "restarting"
        self._tell(state=state, deaths=self.status.deaths + 1, last_error=words)
        if too_often:
            log.error("part_failed", part=self.name, error=words, exc_info=True)
        else:
            self.restart_at = now + FIRST_RESTART_S * float(1 << min(len(self._deaths), 6))
            log.error("part_died", part=self.name, error=words, exc_info=True)
        self._on_death(self.name)

    def _tell(self, **changed: object) -> None:
        """Replace what status tells, as a whole."""
        self.status = msgspec.structs.replace(self.status, **changed)
