"""Where to look: paths that may have changed, each once, urgent ones first."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

Task = Callable[[], None]


class Hints:
    """What watchers and clocks put in and the reader takes out.

    A path waits at most once however often it is put. ``later`` holds paths back for a moment, which
    tells a deletion from the first half of a rename.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._urgent: dict[str, None] = {}
        self._backlog: deque[str] = deque()
        self._later: dict[str, float] = {}
        self._tasks: deque[Task] = deque()
        self._closed = False

    def put(self, path: str) -> None:
        """Say that *path* may have changed."""
        with self._changed:
            self._urgent[path] = None
            self._changed.notify()

    def put_later(self, path: str, delay_s: float) -> None:
        """Say that *path* should be looked at again after *delay_s*."""
        with self._changed:
            self._later.setdefault(path, time.monotonic() + delay_s)

    def put_backlog(self, paths: Iterable[str]) -> None:
        """Queue *paths* behind everything that is happening now."""
        with self._changed:
            self._backlog.extend(paths)
            self._changed.notify()

    def put_task(self, task: Task) -> None:
        """Have the reader run *task* between two reads."""
        with self._changed:
            self._tasks.append(task)
            self._changed.notify()

    def wait_closed(self, timeout_s: float) -> bool:
        """Wait up to *timeout_s*; say whether the hints were closed meanwhile."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed, timeout_s)

    def close(self) -> None:
        """Wake the reader for the last time."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the reader should stop at the next line boundary."""
        return self._closed

    @property
    def has_urgent(self) -> bool:
        """Whether something is happening now that the backlog should wait for."""
        return bool(self._urgent or self._tasks)

    @property
    def has_backlog(self) -> bool:
        """Whether older changes still wait."""
        return bool(self._backlog)

    @property
    def waiting(self) -> int:
        """How many paths wait to be looked at."""
        return len(self._urgent) + len(self._backlog)

    def take(self) -> tuple[list[Task], list[str], str | None]:
        """Wait for something to do; return tasks, all urgent paths, or else one from the backlog."""
        with self._changed:
            while not self._closed:
                self._ripen()
                if self._urgent or self._tasks:
                    return self._take_urgent()
                if self._backlog:
                    return [], [], self._backlog.popleft()
                self._changed.wait(self._until_next())
        return [], [], None

    def _take_urgent(self) -> tuple[list[Task], list[str], None]:
        tasks, paths = list(self._tasks), list(self._urgent)
        self._tasks.clear()
        self._urgent.clear()
        return tasks, paths, None

    def _ripen(self) -> None:
        if not self._later:
            return
        now = time.monotonic()
        for path in [path for path, due in self._later.items() if due <= now]:
            del self._later[path]
            self._urgent[path] = None

    def _until_next(self) -> float | None:
        return max(0.0, min(self._later.values()) - time.monotonic()) if self._later else None
