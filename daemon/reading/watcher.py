"""Noticing changes: a watch per directory, counted; what cannot be watched is named for polling."""

import errno
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD

BUFFER_BYTES = 1 << 16
# Events that follow each other faster than this are a stream...
STREAM_S = 0.005
# ...and are collected for this long: the kernel merges those of one file while nobody reads them.
COLLECT_S = 0.01


class InotifyEvents(InotifyFD):
    """Calls *on_modified* with watch and name of each written file; all else goes watchdog's own way."""

    def __init__(self, on_modified: Callable[[int, bytes], None]) -> None:
        super().__init__()
        self._on_modified = on_modified

    def run(self) -> None:
        """Read events and hand them on until stopped."""
        read_at = 0.0
        while self.should_keep_running():
            self._hand_on(self._read_event_buffer(BUFFER_BYTES))
            now = time.monotonic()
            if now - read_at < STREAM_S:
                time.sleep(COLLECT_S)
                now += COLLECT_S
            read_at = now

    def _hand_on(self, data: bytes) -> None:
        for watch, mask, cookie, name in self._parse_event_buffer(data):
            if mask == InotifyConstants.IN_MODIFY:
                self._on_modified(watch, name)
            # The kernel reports an overflow with watch -1; other events without a watch mean nothing.
            elif watch != -1 or mask & InotifyConstants.IN_Q_OVERFLOW:
                self.handle_event(InotifyEvent(watch, mask, cookie, name))


if TYPE_CHECKING:
    from watchdog.events import FileSystemEventHandler

OnHint = Callable[[str], None]
OnOverflow = Callable[[], None]
OnUnheld = Callable[[], None]


class Watcher(Protocol):
    """Calls back with every path that may have changed below the directories it holds."""

    unheld: set[str]

    @property
    def asked(self) -> int:
        """How many directories it was asked to watch."""
        ...

    @property
    def held(self) -> int:
        """How many it does watch."""
        ...

    @property
    def alive(self) -> bool:
        """Whether its thread still runs."""
        ...

    def watch(self, directory: str) -> bool:
        """Watch *directory* (not what lies deeper); say whether that holds."""
        ...

    def close(self) -> None:
        """Stop calling back and give the watches back to the system."""
        ...


def make_watcher(on_hint: OnHint, on_overflow: OnOverflow, on_unheld: OnUnheld, most_watches: int) -> Watcher:
    """Return the lightest watcher that this system has; *on_unheld* is called when polling becomes needed."""
    if sys.platform != "linux":
        return ObserverWatcher(on_hint)
    try:
        return InotifyWatcher(on_hint, on_overflow, on_unheld, most_watches)
    except OSError:  # no inotify, or too many programs use it
        return NoWatcher(on_unheld)


def is_wanted(name: str, is_directory: bool) -> bool:
    """Say whether a changed entry of a watched directory is worth a hint."""
    return name.endswith((".jsonl", ".md")) or is_directory or name in ("HEAD", "metadata.json")


class InotifyWatcher:
    """One inotify instance and one thread for all directories, through watchdog's own wrapper.

    watchdog's Observer would spend a thread on each directory and three quarters of a busy reader's
    time in its queues; its InotifyFD, made leaner by ``InotifyEvents``, calls back directly.
    """

    def __init__(
        self, on_hint: OnHint, on_overflow: OnOverflow, on_unheld: OnUnheld, most_watches: int = 0
    ) -> None:
        from watchdog.observers.inotify_c import InotifyConstants as Mask

        from flowd.daemon.reading.watcher import InotifyEvents

        self._on_hint = on_hint
        self._on_overflow = on_overflow
        self._on_unheld = on_unheld
        self._most = most_watches
        self._mask = (
            Mask.IN_MODIFY
            | Mask.IN_CREATE
            | Mask.IN_DELETE
            | Mask.IN_MOVED_FROM
            | Mask.IN_MOVED_TO
            | Mask.IN_ONLYDIR
        )
        self._guard = threading.Lock()
        self._directories: dict[int, bytes] = {}
        self._descriptors: dict[str, int] = {}
        self.unheld: set[str] = set()
        self._closing = False
        self._fd = InotifyEvents(self._on_modified)
        self._fd.start()

    @property
    def asked(self) -> int:
        """How many directories it was asked to watch."""
        return len(self._descriptors) + len(self.unheld)

    @property
    def held(self) -> int:
        """How many it does watch."""
        return len(self._descriptors)

    @property
    def alive(self) -> bool:
        """Whether the thread that reads events still runs."""
        return self._fd.is_alive()

    def watch(self, directory: str) -> bool:
        """Watch *directory*; when the system has no watch left, remember it as unheld."""
        with self._guard:
            if directory in self._descriptors:
                return True
            try:
                descriptor = self._add(directory)
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                    self.unheld.add(directory)
                    self._on_unheld()
                return False
            self._directories[descriptor] = os.fsencode(directory)
            self._descriptors[directory] = descriptor
            self.unheld.discard(directory)
            return True

    def close(self) -> None:
        """Stop the thread and give all watches back."""
        self._closing = True
        self._fd.stop()
        self._fd.join(2)

    def _on_modified(self, descriptor: int, name: bytes) -> None:
        """Take the common case, a file that was written to, without an object per event."""
        directory = self._directories.get(descriptor)
        if directory is not None and is_wanted(text := os.fsdecode(name), is_directory=False):
            self._on_hint(os.fsdecode(directory) + "/" + text)

    def on_event(self, event: object) -> None:
        """Take one inotify event; part of watchdog's callback protocol."""
        directory = self._directories.get(event.wd)  # type: ignore[attr-defined]  # watchdog's InotifyEvent
        name: bytes = event.name  # type: ignore[attr-defined]  # same
        if directory is not None and name:
            text = os.fsdecode(name)
            if is_wanted(text, event.is_directory):  # type: ignore[attr-defined]  # same
                path = os.fsdecode(directory) + "/" + text
                if event.is_directory and event.is_moved_from:  # type: ignore[attr-defined]  # same
                    self._forget(path)
                self._on_hint(path)

    def on_watch_deleted(self, descriptor: int) -> None:
        """Take the end of a watch: its directory is gone, and perhaps already there anew."""
        with self._guard:
            directory = os.fsdecode(self._directories.pop(descriptor, b""))
            if self._descriptors.get(directory) == descriptor:
                del self._descriptors[directory]
        if directory and not self._closing:
            self._on_hint(directory)

    def on_queue_overflow(self) -> None:
        """Take the kernel's word that events were lost."""
        self._on_overflow()

    def _forget(self, moved: str) -> None:
        """Drop a directory that was moved, with all below it: the same path may come to mean another."""
        with self._guard:
            gone = [path for path in self._descriptors if path == moved or path.startswith(moved + "/")]
            descriptors = [self._descriptors.pop(path) for path in gone]
            for descriptor in descriptors:
                self._directories.pop(descriptor, None)
        self._fd.remove_callbacks([(descriptor, id(self)) for descriptor in descriptors])  # type: ignore[misc]  # NewTypes over int

    def _add(self, directory: str) -> int:
        if self._most and len(self._descriptors) >= self._most and os.path.isdir(directory):  # noqa: PTH112 hot path
            raise OSError(errno.ENOSPC, "the setting watch.most_watches is reached", directory)
        descriptor = int(self._fd.add_callback(os.fsencode(directory), self._mask, self, id(self)))  # type: ignore[arg-type]  # NewTypes over int
        if descriptor < 0:  # watchdog passes over EACCES without a word
            raise PermissionError(errno.EACCES, "cannot be watched", directory)
        return descriptor


class NoWatcher:
    """Holds nothing: everything is polled."""

    def __init__(self, on_unheld: OnUnheld) -> None:
        self._on_unheld = on_unheld
        self.unheld: set[str] = set()

    @property
    def asked(self) -> int:
        """How many directories it was asked to watch."""
        return len(self.unheld)

    @property
    def held(self) -> int:
        """How many it does watch."""
        return 0

    @property
    def alive(self) -> bool:
        """It has no thread that could die."""
        return True

    def watch(self, directory: str) -> bool:
        """Remember *directory* as unheld."""
        if directory not in self.unheld and os.path.isdir(directory):  # noqa: PTH112 hot path
            self.unheld.add(directory)
            self._on_unheld()
        return False

    def close(self) -> None:
        """Nothing is held."""


class ObserverWatcher:
    """watchdog's Observer, for systems without inotify (FSEvents on macOS): one recursive watch per root."""

    def __init__(self, on_hint: OnHint) -> None:
        from watchdog.observers import Observer

        self._on_hint = on_hint
        self._roots: list[str] = []
        self._asked: set[str] = set()
        self.unheld: set[str] = set()
        self._observer = Observer()
        self._observer.start()

    @property
    def asked(self) -> int:
        """How many directories it was asked to watch."""
        return len(self._asked)

    @property
    def held(self) -> int:
        """How many it does watch."""
        return len(self._asked) - len(self.unheld)

    @property
    def alive(self) -> bool:
        """Whether the observer's thread still runs."""
        return self._observer.is_alive()

    def watch(self, directory: str) -> bool:
        """Watch *directory*; one that lies below a watched root is covered already."""
        self._asked.add(directory)
        if any(directory == root or directory.startswith(root + "/") for root in self._roots):
            return True
        try:
            self._observer.schedule(_handler(self._on_hint), directory, recursive=True)
        except OSError:
            self.unheld.add(directory)
            return False
        self.unheld.discard(directory)
        self._roots.append(directory)
        return True

    def close(self) -> None:
        """Stop the observer."""
        self._observer.stop()
        self._observer.join(2)


def _handler(on_hint: OnHint) -> "FileSystemEventHandler":
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def on_any_event(self, event: FileSystemEvent) -> None:
            for path in (event.src_path, event.dest_path):
                text = os.fsdecode(path)
                if text and is_wanted(text, event.is_directory):
                    on_hint(text)

    return Handler()
