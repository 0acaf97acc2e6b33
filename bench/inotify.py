"""The kernel's inotify without any wrapper: what a floor is made of, and what watches flowd from outside."""

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from pathlib import Path

IN_MODIFY = 0x2
IN_MOVED_TO = 0x80
_HEAD = struct.Struct("iIII")
_BUFFER_BYTES = 1 << 16

_libc = ctypes.CDLL(None, use_errno=True)


class Inotify:
    """One inotify instance; ``wait`` blocks in ``read`` itself, or in ``poll`` when there is a deadline."""

    def __init__(self) -> None:
        self.descriptor: int = _libc.inotify_init1(os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._poll = select.poll()
        self._poll.register(self.descriptor, select.POLLIN)

    def __enter__(self) -> "Inotify":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def watch(self, path: str | Path, mask: int) -> int:
        """Watch *path*; return the number that its events carry."""
        watch: int = _libc.inotify_add_watch(self.descriptor, os.fsencode(path), mask)
        if watch < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(path))
        return watch

    def read(self) -> Iterator[tuple[int, bytes]]:
        """Wait for events; yield each one's watch and name."""
        data = os.read(self.descriptor, _BUFFER_BYTES)
        position = 0
        while position < len(data):
            watch, _, _, length = _HEAD.unpack_from(data, position)
            position += _HEAD.size + length
            yield watch, data[position - length : position].rstrip(b"\0")

    def wait(self, timeout_ms: float) -> list[tuple[int, bytes]]:
        """Return the events that came within *timeout_ms*, none when none came."""
        return list(self.read()) if self._poll.poll(timeout_ms) else []

    def drain(self) -> None:
        """Forget what has come so far."""
        while self.wait(0):
            pass
