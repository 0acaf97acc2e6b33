"""One daemon per user: a kernel lock on a file says who runs, not the file's contents."""

import fcntl
import os
import time
from pathlib import Path

import msgspec

from flowd.actions.daemon_client import Holder, read_holder
from flowd.config.paths import make_private_dir
from flowd.system.errors import FlowdError

# Whoever asks "who runs?" holds a shared lock for an instant; that instant must not refuse a start.
PROBE_S = 0.2
LOOK_S = 0.01


class AlreadyRunningError(FlowdError):
    """Another flowd holds the lock."""


class InstanceLock:
    """Held from before anything is touched until the very end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock, or raise AlreadyRunningError naming the pid of who has it."""
        make_private_dir(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not _take(descriptor):
            os.close(descriptor)
            holder = read_holder(self._path)
            who = f"pid {holder.pid}" if holder else "another process"
            raise AlreadyRunningError(
                f"flowd is already running ({who})",
                hint="`flowd status` asks it; `flowd restart` replaces it",
            )
        self._descriptor = descriptor

    def describe(self, holder: Holder) -> None:
        """Write who holds the lock into it."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        """Empty the file and give the lock back; the file stays, since deleting it would race."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1


def _take(descriptor: int) -> bool:
    deadline = time.monotonic() + PROBE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(LOOK_S)
        else:
            return True
