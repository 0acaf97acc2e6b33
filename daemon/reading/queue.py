"""The reader's queue: tasks and changed paths, urgent ones first."""

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

Task = Callable[[], None]


class Work(NamedTuple):
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
        """Have the reader thread call *task*."""
        with self._ready:
            self._tasks.append(task)
            self._ready.notify()

    def close(self) -> None:
        """Have the reader stop at the next line boundary."""
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

    def take(self) -> Work:
        """Wait for work; return all tasks and urgent paths, else one backlog path; nothing when closed."""
        with self._ready:
            while not (self._tasks or self._urgent or self._backlog or self.closed.is_set()):
                self._ready.wait()
            if self.closed.is_set():
                return Work([], [])
            if not (self._tasks or self._urgent):
                return Work([], [], self._backlog.popleft())
            work = Work(self._tasks, list(self._urgent))
            self._tasks = []
            self._urgent.clear()
            return work
