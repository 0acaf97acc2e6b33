"""The daemon's threads: restarted after a crash, marked as failed after several crashes in a minute."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

import msgspec

from flowd.config.logs import log
from flowd.daemon.control.status import ThreadLine
from flowd.system.backoff import backoff_s

MAX_CRASHES = 3
CRASH_WINDOW_S = 60.0
FIRST_RESTART_S = 0.4
MAX_RESTART_S = 12.8


class Runnable(Protocol):
    """Something whose ``run`` lasts until it is closed."""

    def run(self) -> None:
        """Work until closed."""
        ...

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread in ``run`` call *beat* soon; may be called from any thread."""
        ...


class SupervisedThread:
    """One named thread. A crash ends only this thread: the supervisor is notified and restarts it."""

    def __init__(self, name: str, make: Callable[[], Runnable], on_crash: Callable[[str], None]) -> None:
        self.name = name
        self._make = make
        self._on_crash = on_crash
        self._crashes: deque[float] = deque(maxlen=MAX_CRASHES)
        self._thread: threading.Thread | None = None
        self.status = ThreadLine(name=name, state="restarting", deaths=0, last_error="", silent_s=0.0)
        self.restart_at: float | None = None
        self._runnable: Runnable | None = None
        self._beat_at = time.monotonic()

    @property
    def silent_s(self) -> float:
        """Seconds since the thread last answered; 0.0 while it is not running."""
        return time.monotonic() - self._beat_at if self.status.state == "running" else 0.0

    def line(self) -> ThreadLine:
        """Return the thread's line for status."""
        return msgspec.structs.replace(self.status, silent_s=round(self.silent_s, 1))

    def request_beat(self) -> None:
        """Ask the thread for a sign of life."""
        runnable = self._runnable
        if runnable is not None and self.status.state == "running":
            runnable.request_beat(self._beat)

    def _beat(self) -> None:
        self._beat_at = time.monotonic()

    def start(self) -> None:
        """Start the thread with what ``make`` returns; raise what it raises if this is the first start."""
        self.restart_at = None
        try:
            runnable = self._make()
        except Exception as error:
            if self._thread is None:
                raise  # whoever starts flowd should see why
            self._crashed(error)
            return
        self._thread = threading.Thread(
            target=self._run, args=(runnable,), name=f"flowd-{self.name}", daemon=True
        )
        self._runnable = runnable
        self._beat()
        self._publish(state="running")
        self._thread.start()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; return True if it did."""
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self, runnable: Runnable) -> None:
        try:
            runnable.run()
            self._publish(state="restarting")
        except Exception as error:  # noqa: BLE001 the top of a thread: reported to the supervisor
            self._crashed(error)

    def _crashed(self, error: Exception) -> None:
        now = time.monotonic()
        self._crashes.append(now)
        message = f"{type(error).__name__}: {error}"
        too_often = len(self._crashes) == MAX_CRASHES and now - self._crashes[0] < CRASH_WINDOW_S
        state = "failed" if too_often else "restarting"
        self._publish(state=state, deaths=self.status.deaths + 1, last_error=message)
        if too_often:
            log.error("thread_failed", thread=self.name, error=message, exc_info=True)
        else:
            delay_s = backoff_s(len(self._crashes), first_s=FIRST_RESTART_S, max_s=MAX_RESTART_S)
            self.restart_at = now + delay_s
            log.error("thread_crashed", thread=self.name, error=message, exc_info=True)
        self._on_crash(self.name)

    def _publish(self, **changed: object) -> None:
        """Replace the status line as a whole: other threads read it without a lock."""
        self.status = msgspec.structs.replace(self.status, **changed)
