"""The .beads directory of a project: its path, the holder of its exclusive lock, and the lock of flowd."""

# ruff: noqa: PTH112 - os.path answers False where Path raises

import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.system.errors import FlowdError
from flowd.system.files import UnreadableFileError, read_inside, read_line
from flowd.system.locks import wait_for_lock
from flowd.workspace.git import git_place

FOLDER = ".beads"
EXCLUSIVE = ".exclusive-lock"
UNKNOWN_OWNER = "another program"
POLL_S = 0.02
MAX_LOCK_BYTES = 4096


class BeadsLockedError(FlowdError):
    """Another flowd process works with the same .beads directory."""


class BeadsDirectory(NamedTuple):
    """The project that bd runs in, and the directory that it uses there."""

    project: str
    path: str


class _Owner(msgspec.Struct, frozen=True):
    holder: str = UNKNOWN_OWNER
    pid: int = 0
    hostname: str = ""


def find_beads(project: str) -> BeadsDirectory | None:
    """Return the .beads directory of *project*, or of the main checkout if it is a worktree."""
    for checkout in (project, main_checkout(project)):
        path = os.path.join(checkout, FOLDER)
        if checkout and os.path.isdir(path):
            return BeadsDirectory(project, _redirected(checkout, path))
    return None


def exclusive_owner(beads: BeadsDirectory) -> str:
    """Return who holds the exclusive lock, ``""`` if nobody or a dead process of this machine."""
    path = os.path.join(beads.path, EXCLUSIVE)
    if not os.path.lexists(path):
        return ""
    try:
        owner = msgspec.json.decode(read_inside(path, beads.path, MAX_LOCK_BYTES), type=_Owner)
    except (OSError, UnreadableFileError, msgspec.DecodeError, RecursionError):
        return UNKNOWN_OWNER  # an unreadable lock counts as held
    is_dead = owner.hostname == socket.gethostname() and owner.pid > 0 and not _is_running(owner.pid)
    return "" if is_dead else owner.holder


@contextmanager
def beads_lock(beads: BeadsDirectory, timeout_s: float) -> Iterator[int]:
    """Hold the lock on *beads* that excludes other flowd processes; raise BeadsLockedError after *timeout_s*.

    Yields the descriptor of the lock file. The file keeps one line from one holder to the next.
    """
    folder = resolve_paths().state_dir / "beads"
    make_private_dir(folder)
    name = hashlib.blake2b(os.fsencode(os.path.realpath(beads.path)), digest_size=8).hexdigest()
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not wait_for_lock(descriptor, timeout_s, poll_s=POLL_S):
            raise BeadsLockedError("another flowd process is using these Beads")
        yield descriptor
    finally:
        os.close(descriptor)


def main_checkout(project: str) -> str:
    """Return the main checkout of the worktree at *project*, ``""`` if it is not a linked worktree."""
    place = git_place(project)
    return os.path.dirname(place.common) if place is not None and place.worktree else ""


def _redirected(checkout: str, path: str) -> str:
    target = read_line(os.path.join(path, "redirect"))
    return os.path.normpath(os.path.join(checkout, target)) if target else path


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
