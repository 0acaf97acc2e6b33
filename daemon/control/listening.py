"""The socket of the daemon: bound where nobody else answers and nobody else may write, for this user only."""

import os
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path

from flowd.config.paths import make_private_dir
from flowd.system.errors import FlowdError

CONNECT_DEADLINE_S = 1.0


def peer_uid(connection: socket.socket) -> int:
    """Return the user id of the process at the other end."""
    if sys.platform == "linux":
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", raw)[1])
    # macOS: struct xucred (sys/ucred.h) begins with version and uid; SOL_LOCAL is 0, LOCAL_PEERCRED 1.
    raw = connection.getsockopt(0, 1, 76)
    return int(struct.unpack_from("II", raw)[1])


def listen(path: Path) -> socket.socket:
    """Bind the socket at *path*; raise FlowdError if another daemon, with a lock elsewhere, answers there."""
    make_private_dir(path.parent)
    _refuse_foreign_directory(path.parent)
    if _is_answered(path):
        raise FlowdError(
            f"another flowd answers at {path}",
            hint="stop it, or give this one a directory of its own with FLOWD_RUNTIME_DIR",
        )
    with suppress(FileNotFoundError):
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    previous = os.umask(0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(previous)
    listener.listen(64)
    return listener


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(CONNECT_DEADLINE_S)
        try:
            client.connect(str(path))
        except OSError as error:
            return isinstance(error, TimeoutError | BlockingIOError)
    return True


def identity(path: Path) -> tuple[int, int]:
    """Return device and inode of what is at *path*, zeros if nothing is."""
    try:
        status = path.lstat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _refuse_foreign_directory(directory: Path) -> None:
    status = directory.lstat()
    if status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise FlowdError(
            f"{directory} is not private to this user",
            hint="set FLOWD_RUNTIME_DIR to a directory that only you can write to",
        )
