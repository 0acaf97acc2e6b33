"""One daemon per user: a kernel lock on a file decides who runs, not the file's contents."""

import os
from pathlib import Path

import msgspec

from flowd.actions.daemon_client import Holder, read_holder
from flowd.config.paths import make_private_dir
from flowd.system.errors import FlowdError
from flowd.system.locks import wait_for_lock

# A probe ("is it running?") holds a shared lock for an instant, which must not refuse a start.
PROBE_S = 0.2


class AlreadyRunningError(FlowdError):
    """Another flowd holds the lock."""


class InstanceLock:
    """Held from before the daemon touches anything until it exits."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1

    def acquire(self) -> None:
        """Take the lock; raise AlreadyRunningError with the holder's pid if another process has it."""
        make_private_dir(self._path.parent)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not wait_for_lock(descriptor, PROBE_S):
            os.close(descriptor)
            holder = read_holder(self._path)
            who = f"pid {holder.pid}" if holder else "another process"
            raise AlreadyRunningError(
                f"flowd is already running ({who})",
                hint="run `flowd status` to see it, or `flowd restart` to replace it",
            )
        self._descriptor = descriptor

    def describe(self, holder: Holder) -> None:
        """Write the holder into the lock file."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, msgspec.json.encode(holder), 0)

    def release(self) -> None:
        """Empty the file and release the lock; deleting the file would race with a start."""
        if self._descriptor >= 0:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = -1
