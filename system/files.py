"""Files: bounded reads of untrusted files, and atomic writes: a crash leaves the old or the new content."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from flowd.system.errors import FlowdError

# O_NONBLOCK: opening a FIFO for reading would otherwise wait for a writer that never comes.
READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_PRIVATE = 0o600
_NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnreadableFileError(FlowdError, ValueError):
    """The path is not a regular file, or the file is larger than its limit."""


def read_capped(descriptor: int, limit: int) -> bytes:
    """Return all bytes of the open file; raise UnreadableFileError if it is not regular or over *limit*."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFileError("not a regular file")
    if status.st_size > limit:
        raise UnreadableFileError(f"{status.st_size} bytes, more than the limit of {limit}")
    data = os.read(descriptor, limit + 1)
    while len(data) <= limit and (more := os.read(descriptor, limit + 1 - len(data))):
        data += more
    if len(data) > limit:
        raise UnreadableFileError(f"more than the limit of {limit} bytes")
    return data


def read_whole(path: str, limit: int) -> bytes:
    """Return all bytes of the regular file at *path*; raise as `read_capped` does."""
    descriptor = os.open(path, READ_FLAGS)
    try:
        return read_capped(descriptor, limit)
    finally:
        os.close(descriptor)


def real_inside(path: str | os.PathLike[str], root: str | os.PathLike[str]) -> str:
    """Return the real path of *path*; raise UnreadableFileError if links lead out of *root*."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if real != home and not real.startswith(home.rstrip("/") + "/"):
        raise UnreadableFileError(
            f"{os.fspath(path)} leads out of {os.fspath(root)} to {real}", hint="remove the symbolic link"
        )
    return real


def read_inside(path: str | os.PathLike[str], root: str | os.PathLike[str], limit: int) -> bytes:
    """Return all bytes of the regular file at *path*; raise UnreadableFileError if links lead out of *root*.

    For files that a stranger may have put into a repository: nothing outside of it is opened, and a device
    or a FIFO neither blocks nor answers.
    """
    descriptor = os.open(real_inside(path, root), READ_FLAGS | os.O_NOFOLLOW)
    try:
        return read_capped(descriptor, limit)
    finally:
        os.close(descriptor)


def read_head(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the first *limit* bytes of the regular file at *path*; raise as `read_capped` does."""
    return _read_part(path, limit, lambda _: 0)


def read_tail(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the last *limit* bytes of the regular file at *path*; raise as `read_capped` does."""
    return _read_part(path, limit, lambda size: max(0, size - limit))


def _read_part(path: str | os.PathLike[str], limit: int, start: Callable[[int], int]) -> bytes:
    descriptor = os.open(path, READ_FLAGS)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableFileError("not a regular file")
        return os.pread(descriptor, limit, start(status.st_size))
    finally:
        os.close(descriptor)


def read_line(path: str, limit: int = 4096) -> str:
    """Return the first line of *path*, or ``""`` if it is not a small readable file."""
    try:
        first, _, _ = read_whole(path, limit).partition(b"\n")
    except (OSError, ValueError):  # a NUL byte in the path is a ValueError too
        return ""
    return first.decode("utf-8", "replace").strip()


def atomic_write(
    path: str | os.PathLike[str],
    data: bytes | str,
    *,
    mode: int = _PRIVATE,
    keep_mode: bool = False,
    exclusive: bool = False,
    modified_ns: int | None = None,
    dir_fd: int | None = None,
) -> None:
    """Replace the file at *path* by *data* durably: temporary file, fsync, rename.

    With *keep_mode* an existing file's mode is kept and *mode* serves new ones; with *exclusive* an
    existing file raises FileExistsError; *modified_ns* dates the new file. Links are replaced, never
    followed. The directory is synced too, so that the name survives a power cut.
    """
    if keep_mode:
        mode = _mode_of(path, mode, dir_fd)
    with temporary_file(path, data, mode=mode, modified_ns=modified_ns, dir_fd=dir_fd) as temporary:
        if exclusive:
            move_without_replacing(temporary, path, dir_fd=dir_fd)
        else:
            os.rename(temporary, path, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    _sync_directory(path, dir_fd)


@contextmanager
def temporary_file(
    beside: str | os.PathLike[str],
    data: bytes | str,
    *,
    mode: int = _PRIVATE,
    modified_ns: int | None = None,
    dir_fd: int | None = None,
) -> Iterator[str]:
    """Yield the name of a synced file holding *data* in the directory of *beside*; remove it if it stays."""
    directory, name = os.path.split(os.fspath(beside))
    temporary = os.path.join(directory, f".{name}.{os.getpid()}-{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, _NEW_FILE, _PRIVATE, dir_fd=dir_fd)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data.encode("utf-8", "replace") if isinstance(data, str) else data)
            file.flush()
            if mode != _PRIVATE:
                os.fchmod(file.fileno(), mode)
            if modified_ns is not None:
                os.utime(file.fileno(), ns=(modified_ns, modified_ns))
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=dir_fd)


def move_without_replacing(
    source: str | os.PathLike[str], target: str | os.PathLike[str], *, dir_fd: int | None = None
) -> None:
    """Rename a file, its time kept; raise FileExistsError if *target* exists."""
    try:
        os.link(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if _exists(target, dir_fd):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), os.fspath(target)) from error
        os.rename(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    else:
        os.unlink(source, dir_fd=dir_fd)


def _exists(path: str | os.PathLike[str], dir_fd: int | None) -> bool:
    try:
        os.stat(path, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _mode_of(path: str | os.PathLike[str], otherwise: int, dir_fd: int | None) -> int:
    try:
        return stat.S_IMODE(os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return otherwise


def _sync_directory(path: str | os.PathLike[str], dir_fd: int | None) -> None:
    with suppress(OSError):  # some file systems cannot sync a directory; the file itself is safe
        if dir_fd is not None:
            os.fsync(dir_fd)
            return
        descriptor = os.open(os.path.dirname(os.fspath(path)) or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
