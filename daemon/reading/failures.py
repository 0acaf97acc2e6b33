"""Files that could not be processed: listed for status, left alone until they change or ``flowd retry``."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from flowd.config.logs import log
from flowd.daemon.control.status import FailureLine
from flowd.daemon.reading.queue import ReaderScheduler, Task
from flowd.redaction.data import Redact
from flowd.system.backoff import backoff_s
from flowd.system.errors import FlowdError, StoreError
from flowd.system.text import cut, printable_line

MAX_LISTED = 1000
MAX_ERROR_CHARACTERS = 200
# A file that fails and changes all the time is not tried at every change.
FIRST_WAIT_S = 1.0
MAX_WAIT_S = 60.0

_Version = tuple[int, int, int] | None
_ANY_OTHER = (-1, -1, -1)


class _Failure(NamedTuple):
    line: FailureLine
    version: _Version
    not_before: float


class Failures:
    """The list of files that failed, by path. The reader changes it; other threads read ``listed``."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._failed: dict[str, _Failure] = {}
        self.listed: tuple[FailureLine, ...] = ()

    def add(self, path: str, error: Exception | str) -> None:
        """List *path* with what went wrong; log it the first time."""
        known = self._failed.get(path)
        line = FailureLine(
            path=printable_line(path),
            error=self._described(error),
            since=known.line.since if known else time.time(),
            times=known.line.times + 1 if known else 1,
        )
        if known is None:
            exc_info = error if isinstance(error, Exception) else None
            log.error("file_failed", path=line.path, error=line.error, hint="flowd retry", exc_info=exc_info)
        wait_s = backoff_s(line.times - 1, first_s=FIRST_WAIT_S, max_s=MAX_WAIT_S) if known else 0.0
        if known is not None or len(self._failed) < MAX_LISTED:
            self._failed[path] = _Failure(line, _version_of(path), time.monotonic() + wait_s)
        self._publish()

    def wait_s(self, path: str) -> float | None:
        """Return how long to leave *path* alone: 0.0 if not at all, None if until it changes."""
        failure = self._failed.get(path)
        if failure is None:
            return 0.0
        if failure.version == _version_of(path):
            return None
        return max(0.0, failure.not_before - time.monotonic())

    def remove(self, *paths: str) -> None:
        """Take *paths* off the list: they were processed, or are gone."""
        recovered = [path for path in paths if self._failed.pop(path, None)] if self._failed else []
        for path in recovered:
            log.info("file_recovered", path=printable_line(path))
        if recovered:
            self._publish()

    def release(self) -> list[str]:
        """Return all listed paths, to be tried again now; each stays listed until it succeeds."""
        for path, failure in self._failed.items():
            self._failed[path] = failure._replace(version=_ANY_OTHER, not_before=0.0)
        return list(self._failed)

    def _described(self, error: Exception | str) -> str:
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        return cut(self._redact(printable_line(text[: 4 * MAX_ERROR_CHARACTERS])), MAX_ERROR_CHARACTERS)

    def _publish(self) -> None:
        self.listed = tuple(failure.line for failure in self._failed.values())


def _version_of(path: str) -> _Version:
    """Return what changes with the file at *path*, None if it cannot be seen."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_ctime_ns, status.st_size


class UnstorableError(Exception):
    """What was read cannot be stored; core.db itself can be written."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Isolation:
    """Keeps an error where it arises: one file goes on the list, all others are read on."""

    def __init__(
        self,
        failures: Failures,
        scheduler: ReaderScheduler,
        commit: Callable[[], None],
        load: Callable[[], None],
    ) -> None:
        """*commit* stores what was read; *load* drops what was not stored, and has it read again."""
        self._failures = failures
        self._scheduler = scheduler
        self._commit = commit
        self._load = load
        self._unstored: set[str] = set()
        # Each of these is stored alone: one of them spoiled a batch.
        self._suspects: set[str] = set()

    def process(self, path: str, work: Callable[[], bool]) -> bool:
        """Do *work* on *path* unless it is to be left alone; return True if it does."""
        wait_s = self._failures.wait_s(path)
        if wait_s is None:
            return False
        if wait_s > 0:
            self._scheduler.put_later(path, wait_s)
            return False
        if path in self._suspects:
            return self.run(path, partial(self._alone, path, work))
        self._unstored.add(path)
        return self.run(path, work)

    def run(self, source: str, work: Callable[[], object]) -> bool:
        """Return True if *work* does; what it raises stays with *source*, a path where there is one.

        Nothing of a spoiled batch is stored: all of it is read again, but for what is at fault.
        """
        try:
            return work() is True
        except StoreError:
            raise
        except UnstorableError as error:
            self._blame(source, error.reason)
        except (FlowdError, OSError) as error:  # raised before anything of it is in the batch
            self._failures.add(source, error)
            self._unstored.discard(source)
            return False
        except Exception as error:  # noqa: BLE001 the content of one file must not stop the reading of the others
            self._failures.add(source, error)
        self._unstored.clear()
        self._load()
        return False

    def stored(self) -> None:
        """Take what was processed off the list of failures: it is stored now."""
        self._failures.remove(*self._unstored)
        self._unstored.clear()

    def _blame(self, source: str, reason: Exception) -> None:
        """List the file that could not be stored; of several, find it by storing each alone."""
        if len(self._unstored) > 1:
            log.warning("batch_refused", files=len(self._unstored), error=str(reason))
            self._suspects |= self._unstored
        else:
            self._failures.add(next(iter(self._unstored), source), reason)

    def _alone(self, path: str, work: Callable[[], bool]) -> bool:
        """Do *work* on *path* in a transaction of its own."""
        self._commit()
        self._unstored.add(path)
        more_left = work()
        self._commit()
        self._suspects.discard(path)
        return more_left


def name_of(task: Task) -> str:
    """Return the name under which a failure of *task* is listed."""
    function = task.func if isinstance(task, partial) else task
    return getattr(function, "__name__", type(function).__name__).strip("_").replace("_", " ")
