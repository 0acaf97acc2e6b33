"""Where to look: paths that may have changed, each once, urgent ones first."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

SMOOTHING = 0.2


class Pace:
    """Keeps work that repeats for many keys within a share of one core.

    A key that comes after a pause is never held up; one that comes again and again rests between two
    turns, the longer the more keys take turns and the more each turn costs.
    """

    def __init__(self, share: float, most_s: float) -> None:
        self._share = share
        self._most_s = most_s
        self._turn_s = 0.0

    def spent(self, seconds: float, turns: int) -> None:
        """Learn that *turns* turns took *seconds* of processor time."""
        self._turn_s += SMOOTHING * (seconds / turns - self._turn_s)

    def rest_s(self, least_s: float, keys: int) -> float:
        """Return how long a key rests after its turn while *keys* keys wait for theirs."""
        return max(least_s, min(self._most_s, self._turn_s * keys / self._share))


Task = Callable[[], None]

# A transcript that is written without pause is read this often at the most...
MIN_REST_S = 0.2
# ...and less often when so many are written at once that reading would take more than this share of a core.
SHARE_OF_CORE = 0.025
MAX_REST_S = 3.0
# Paths become due together, so that one transaction stores them all.
TOGETHER_S = 0.05
MAX_RESTING = 1000


class ReaderQueue:
    """What watchers and clocks put in and the reader takes out.

    A path waits at most once however often it is put. ``later`` holds paths back for a moment, which
    tells a deletion from the first half of a rename. A transcript rests after each reading: the first
    line after a pause is taken at once, the lines of a stream are taken together.
    """

    def __init__(self, least_rest_s: float = MIN_REST_S) -> None:
        self._least_rest_s = least_rest_s
        self._changed = threading.Condition()
        self._urgent: dict[str, None] = {}
        self._backlog: deque[str] = deque()
        self._later: dict[str, float] = {}
        self._rests_until: dict[str, float] = {}
        self._held: dict[str, float] = {}
        self._wakes_at = 0.0
        self.pace = Pace(SHARE_OF_CORE, MAX_REST_S)
        self._tasks: deque[Task] = deque()
        self._later_tasks: dict[Task, float] = {}
        self._closed = False

    def put(self, path: str) -> None:
        """Say that *path* may have changed."""
        with self._changed:
            rests_until = self._rests_until.get(path, 0.0)
            if rests_until > time.monotonic():
                self._hold(path, rests_until)
            else:
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

    def put_task_later(self, task: Task, delay_s: float) -> None:
        """Have the reader run *task* once within the next moments; it waits at most once."""
        with self._changed:
            due = self._later_tasks.setdefault(task, _together(time.monotonic() + delay_s))
            if due < self._wakes_at:
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
        with self._changed:
            self._ripen()
            return bool(self._urgent or self._tasks)

    @property
    def has_backlog(self) -> bool:
        """Whether older changes still wait."""
        return bool(self._backlog)

    @property
    def waiting(self) -> int:
        """How many paths wait to be looked at."""
        return len(self._urgent) + len(self._held) + len(self._backlog)

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
        self._let_rest(paths)
        return tasks, paths, None

    def _let_rest(self, paths: list[str]) -> None:
        now = time.monotonic()
        if len(self._rests_until) > MAX_RESTING:
            self._rests_until = {path: until for path, until in self._rests_until.items() if until > now}
        until = now + self.pace.rest_s(self._least_rest_s, len(self._held) + len(paths))
        self._rests_until.update((path, until) for path in paths if path.endswith(".jsonl"))

    def _hold(self, path: str, until: float) -> None:
        if path not in self._held:
            self._held[path] = due = _together(until)
            if due < self._wakes_at:
                self._changed.notify()

    def _ripen(self) -> None:
        now = time.monotonic()
        for waiting in (self._later, self._held):
            for path in [path for path, due in waiting.items() if due <= now]:
                del waiting[path]
                self._urgent[path] = None
        for task in [task for task, due in self._later_tasks.items() if due <= now]:
            del self._later_tasks[task]
            self._tasks.append(task)

    def _until_next(self) -> float | None:
        """Return how long nothing becomes due, None when nothing waits for its time."""
        waiting = (*self._later.values(), *self._held.values(), *self._later_tasks.values())
        self._wakes_at = min(waiting, default=math.inf)
        return max(0.0, self._wakes_at - time.monotonic()) if self._wakes_at < math.inf else None


def _together(moment: float) -> float:
    return (moment // TOGETHER_S + 1) * TOGETHER_S
