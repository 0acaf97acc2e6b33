"""File watchers: report changed paths; directories that cannot be watched are listed for polling."""

import os
import sys
from collections.abc import Callable
from typing import Protocol

OnChange = Callable[[str], None]
OnOverflow = Callable[[], None]
OnUnwatched = Callable[[], None]


class Watcher(Protocol):
    """Calls back with every path that may have changed in the directories it watches."""

    unwatched: set[str]

    @property
    def asked(self) -> int:
        """Number of directories to watch."""
        ...

    @property
    def held(self) -> int:
        """Number of directories it watches."""
        ...

    @property
    def alive(self) -> bool:
        """Whether its thread is running."""
        ...

    def watch(self, directory: str) -> bool:
        """Watch *directory* (not its subdirectories); return True if it is watched."""
        ...

    def close(self) -> None:
        """Stop calling back and remove all watches."""
        ...


def make_watcher(
    on_change: OnChange, on_overflow: OnOverflow, on_unwatched: OnUnwatched, max_watches: int
) -> Watcher:
    """Return the best watcher of this system; *on_unwatched* is called when polling becomes necessary."""
    if sys.platform != "linux":
        from flowd.daemon.reading.observer import ObserverWatcher

        return ObserverWatcher(on_change)
    from flowd.daemon.reading.inotify import InotifyWatcher

    try:
        return InotifyWatcher(on_change, on_overflow, on_unwatched, max_watches)
    except OSError:  # no inotify, or no instance left
        return NoWatcher(on_unwatched)


def is_relevant(name: str, is_directory: bool) -> bool:
    """Return True if a changed entry of a watched directory must be reported."""
    return name.endswith((".jsonl", ".md")) or is_directory or name in ("HEAD", "metadata.json")


class NoWatcher:
    """Watches nothing: everything is polled."""

    def __init__(self, on_unwatched: OnUnwatched) -> None:
        self._on_unwatched = on_unwatched
        self.unwatched: set[str] = set()

    @property
    def asked(self) -> int:
        """Number of directories to watch."""
        return len(self.unwatched)

    @property
    def held(self) -> int:
        """Number of directories it watches."""
        return 0

    @property
    def alive(self) -> bool:
        """Always True: there is no thread that could end."""
        return True

    def watch(self, directory: str) -> bool:
        """List *directory* as unwatched."""
        if directory not in self.unwatched and os.path.isdir(directory):  # noqa: PTH112 hot path
            self.unwatched.add(directory)
            self._on_unwatched()
        return False

    def close(self) -> None:
        """Do nothing: there are no watches."""
