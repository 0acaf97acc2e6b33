"""The watcher for systems without inotify: watchdog's Observer (FSEvents on macOS)."""

import os

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from flowd.daemon.reading.watcher import OnChange, is_relevant

JOIN_S = 2.0


class ObserverWatcher:
    """One recursive watch per root directory."""

    def __init__(self, on_change: OnChange) -> None:
        self._handler = _Handler(on_change)
        self._roots: list[str] = []
        self._asked: set[str] = set()
        self.unwatched: set[str] = set()
        self._observer = Observer()
        self._observer.start()

    @property
    def asked(self) -> int:
        """Number of directories to watch."""
        return len(self._asked)

    @property
    def held(self) -> int:
        """Number of directories it watches."""
        return len(self._asked) - len(self.unwatched)

    @property
    def alive(self) -> bool:
        """Whether the observer's thread is running."""
        return self._observer.is_alive()

    def watch(self, directory: str) -> bool:
        """Watch *directory*; return True if it, or a root above it, is watched."""
        self._asked.add(directory)
        if any(directory == root or directory.startswith(root + "/") for root in self._roots):
            return True
        try:
            self._observer.schedule(self._handler, directory, recursive=True)
        except OSError:
            self.unwatched.add(directory)
            return False
        self.unwatched.discard(directory)
        self._roots.append(directory)
        return True

    def close(self) -> None:
        """Stop the observer."""
        self._observer.stop()
        self._observer.join(JOIN_S)


class _Handler(FileSystemEventHandler):
    def __init__(self, on_change: OnChange) -> None:
        self._on_change = on_change

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            text = os.fsdecode(path)
            if text and is_relevant(text, event.is_directory):
                self._on_change(text)
