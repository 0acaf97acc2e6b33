"""Reading small files that a stranger may have put there."""

import os
import stat

from flowd.handoff.errors import BrokenHandoffError

# O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer that never comes.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


def read_capped(descriptor: int, limit: int) -> bytes:
    """Return all bytes of the open regular file, or raise when it is no regular file or over *limit*."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise BrokenHandoffError("not a regular file")
    if status.st_size > limit:
        raise BrokenHandoffError(f"{status.st_size} bytes, more than the {limit} flowd reads")
    data = os.read(descriptor, limit + 1)
    while len(data) <= limit and (more := os.read(descriptor, limit + 1 - len(data))):
        data += more
    if len(data) > limit:
        raise BrokenHandoffError(f"more than the {limit} bytes flowd reads")
    return data


def read_whole(path: str, limit: int) -> bytes:
    """Return all bytes of the regular file at *path*, or raise when it is none or over *limit*."""
    descriptor = os.open(path, READ_FLAGS)
    try:
        return read_capped(descriptor, limit)
    finally:
        os.close(descriptor)


def read_line(path: str, limit: int = 4096) -> str:
    """Return the first line of *path*, or ``""`` when there is no such small readable file."""
    try:
        first, _, _ = read_whole(path, limit).partition(b"\n")
    except (OSError, ValueError):  # a broken handoff is a ValueError, and so is a NUL byte in the path
        return ""
    return first.decode("utf-8", "replace").strip()
