"""The reader's queue: tasks and changed paths, urgent ones first, each queued when it is due."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from flowd.daemon.timing import Pace, Timer

Task = Callable[[], None]


class QueuedWork(NamedTuple):
    """What the reader does next: tasks and urgent paths together, or one path of the backlog."""

    tasks: list[Task]
    urgent: list[str]
    backlog: str | None = None


class ReaderQueue:
    """Work for the reader thread. An urgent path is queued once, however often it is put."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._tasks: list[Task] = []
        self._urgent: dict[str, None] = {}
        self._backlog: deque[str] = deque()
        self.closed = threading.Event()

    def put(self, path: str) -> None:
        """Queue a path that has just changed."""
        with self._ready:
            self._urgent[path] = None
            self._ready.notify()

    def put_backlog(self, paths: Iterable[str]) -> None:
        """Queue *paths* behind everything that is urgent."""
        with self._ready:
            self._backlog.extend(paths)
            self._ready.notify()

    def put_next(self, path: str) -> None:
        """Queue *path* at the head of the backlog: a long file of which one slice has been read."""
        with self._ready:
            self._backlog.appendleft(path)
            self._ready.notify()

    def submit(self, task: Task) -> None:
        """Queue *task*, which the reader thread will call."""
        with self._ready:
            self._tasks.append(task)
            self._ready.notify()

    def close(self) -> None:
        """Stop the reader at the next line boundary."""
        with self._ready:
            self.closed.set()
            self._ready.notify_all()

    @property
    def has_backlog(self) -> bool:
        """Whether paths of the backlog are waiting."""
        return bool(self._backlog)

    @property
    def waiting(self) -> int:
        """Number of queued paths."""
        return len(self._urgent) + len(self._backlog)

    @property
    def is_empty(self) -> bool:
        """Whether ``take`` would block."""
        return not (self._tasks or self._urgent or self._backlog)

    def take(self) -> QueuedWork:
        """Wait for work; return all tasks and urgent paths, else one backlog path; nothing when closed."""
        with self._ready:
            while not (self._tasks or self._urgent or self._backlog or self.closed.is_set()):
                self._ready.wait()
            if self.closed.is_set():
                return QueuedWork([], [])
            if not (self._tasks or self._urgent):
                return QueuedWork([], [], self._backlog.popleft())
            work = QueuedWork(self._tasks, list(self._urgent))
            self._tasks = []
            self._urgent.clear()
            return work


# A transcript that is written without pause is read at most this often...
MIN_REST_S = 0.2
# ...and less often when reading all that are written would take more than this share of a core.
SHARE_OF_CORE = 0.025
MAX_REST_S = 3.0
MAX_RESTING = 1000


class ReaderScheduler:
    """Puts work into the reader's queue when it is due.

    A transcript rests after each read: the first line after a pause is read at once, the lines of a stream
    are read together.
    """

    def __init__(self, queue: ReaderQueue, timer: Timer, min_rest_s: float = MIN_REST_S) -> None:
        self._queue = queue
        self._timer = timer
        self._min_rest_s = min_rest_s
        self._pace = Pace(SHARE_OF_CORE, MAX_REST_S)
        self._rests_until: dict[str, float] = {}
        self._held: set[str] = set()

    @property
    def held(self) -> int:
        """Number of changed paths that wait for the end of their rest."""
        return len(self._held)

    def put(self, path: str) -> None:
        """Queue *path*, which has changed: now, or at the end of its rest."""
        rest_s = self._rests_until.get(path, 0.0) - time.monotonic()
        if rest_s <= 0:
            self._queue.put(path)
        elif path not in self._held:
            self._held.add(path)
            self._timer.call_later(rest_s, path, partial(self._release, path))

    def put_later(self, path: str, delay_s: float) -> None:
        """Queue *path* after *delay_s*."""
        self._timer.call_later(delay_s, ("later", path), partial(self._queue.put, path))

    def submit_later(self, task: Task, delay_s: float) -> None:
        """Queue *task* after *delay_s*, once however often it is submitted meanwhile."""
        self._timer.call_later(delay_s, task, partial(self._queue.submit, task))

    def start_rest(self, paths: list[str]) -> None:
        """Start the rest of the transcripts among *paths*, which are being read now."""
        now = time.monotonic()
        if len(self._rests_until) > MAX_RESTING:
            self._rests_until = {path: until for path, until in self._rests_until.items() if until > now}
        until = now + self._pace.rest_s(self._min_rest_s, len(self._held) + len(paths))
        self._rests_until.update((path, until) for path in paths if path.endswith(".jsonl"))

    def spent(self, seconds: float, paths: int) -> None:
        """Record that reading *paths* paths took *seconds* of processor time."""
        self._pace.spent(seconds, paths)

    def _release(self, path: str) -> None:
        self._held.discard(path)
        self._queue.put(path)
