"""Where a project keeps its Beads, whether somebody owns them, and whose turn it is."""

# ruff: noqa: PTH112 - os.path answers False where Path raises

import fcntl
import hashlib
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.system.errors import FlowdError
from flowd.system.files import read_line
from flowd.workspace.git import git_place

FOLDER = ".beads"
EXCLUSIVE = ".exclusive-lock"
LOOK_AGAIN_S = 0.02


class BeadsLockedError(FlowdError):
    """Another program is at these Beads."""


class BeadsPlace(NamedTuple):
    """Where bd is to be run, and the directory it will use there."""

    project: str
    directory: str


class _Owner(msgspec.Struct, frozen=True):
    holder: str = "another program"
    pid: int = 0
    hostname: str = ""


def beads_place(project: str) -> BeadsPlace | None:
    """Return the Beads of *project*: its own, or those of the checkout that it is a worktree of."""
    for checkout in (project, _main_checkout(project)):
        directory = os.path.join(checkout, FOLDER)
        if checkout and os.path.isdir(directory):
            return BeadsPlace(project, _redirected(checkout, directory))
    return None


def exclusive_owner(place: BeadsPlace) -> str:
    """Return who has the database to itself, ``""`` if nobody; a dead owner on this machine is nobody."""
    path = os.path.join(place.directory, EXCLUSIVE)
    if not os.path.lexists(path):
        return ""
    try:
        with open(path, "rb") as file:
            owner = msgspec.json.decode(file.read(4096), type=_Owner)
    except (OSError, msgspec.DecodeError):
        return "another program"  # unreadable is no permission
    is_dead = owner.hostname == socket.gethostname() and owner.pid > 0 and not _lives(owner.pid)
    return "" if is_dead else owner.holder


@contextmanager
def beads_lock(place: BeadsPlace, timeout_s: float) -> Iterator[int]:
    """Hold flowd's own lock on *place*, for all processes of this user; raise TakenError past the deadline.

    The descriptor given is that of the lock file, which remembers one line between turns.
    """
    folder = resolve_paths().state_dir / "beads"
    make_private_dir(folder)
    name = hashlib.blake2b(os.fsencode(os.path.realpath(place.directory)), digest_size=8).hexdigest()
    descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(descriptor, time.monotonic() + timeout_s)
        yield descriptor
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BeadsLockedError("another flowd process is at these Beads") from None
            time.sleep(LOOK_AGAIN_S)


def _main_checkout(project: str) -> str:
    place = git_place(project)
    return os.path.dirname(place.common) if place is not None and place.worktree else ""


def _redirected(checkout: str, directory: str) -> str:
    target = read_line(os.path.join(directory, "redirect"))
    return os.path.normpath(os.path.join(checkout, target)) if target else directory


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
