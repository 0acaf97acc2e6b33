"""handoff.yaml on disk: untrusted when read, replaced atomically, kept aside when broken."""

import errno
import itertools
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flowd.handoff.errors import (
    BrokenHandoffError,
    HandoffBusyError,
    HandoffDiskError,
    MissingFolderError,
    UnsafeHandoffError,
    wrap_os_errors,
)
from flowd.handoff.yaml.codec import MAX_FILE_BYTES, parse
from flowd.handoff.yaml.document import Handoff
from flowd.system.files import READ_FLAGS, UnreadableFileError, read_capped, temporary_file
from flowd.system.locks import wait_for_lock
from flowd.workspace.project import FOLDER

HANDOFF = "handoff.yaml"
LOCK = ".lock"
LOCK_WAIT_S = 5.0
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# NFS locks only files opened for writing, and a folder cannot be.
_CANNOT_LOCK_FOLDERS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP})


class Folder:
    """An open ``.flow-guardian``: all names are looked up from its descriptor, so it cannot be swapped."""

    def __init__(self, root: str | os.PathLike[str], *, create: bool = True) -> None:
        """Open the folder of the project at *root*; if it is missing, create it or raise."""
        self.root = root
        self.path = os.path.join(root, FOLDER)
        self.descriptor = _open_folder(self.path, root, create=create)
        self._lock_file: int | None = None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder and release its lock."""
        if self._lock_file is not None:
            os.close(self._lock_file)
        os.close(self.descriptor)

    def lock(self, wait_s: float = LOCK_WAIT_S) -> None:
        """Hold the folder against every other process and thread until ``close``."""
        try:
            is_ours = wait_for_lock(self._lockable(), wait_s)
        except OSError as error:
            if self._lock_file is not None or error.errno not in _CANNOT_LOCK_FOLDERS:
                raise HandoffDiskError(f"Failed locking {self.path}: {error.strerror}") from error
            self._lock_file = self._open_lock_file()
            return self.lock(wait_s)
        if not is_ours:
            raise HandoffBusyError(
                f"{self.path} is locked by another process for more than {wait_s:g} s",
                hint="see who holds it with: fuser -v " + self.path,
            )
        return None

    def _lockable(self) -> int:
        # The folder itself is the lock: no extra file appears in a repository that tracks its folder.
        return self.descriptor if self._lock_file is None else self._lock_file

    def _open_lock_file(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with wrap_os_errors("locking", os.path.join(self.path, LOCK)):
            return os.open(LOCK, flags, 0o600, dir_fd=self.descriptor)


def _open_folder(path: str, root: str | os.PathLike[str], *, create: bool) -> int:
    with wrap_os_errors("opening", path):
        try:
            return os.open(path, _OPEN_FOLDER)
        except FileNotFoundError as error:
            if not create:
                raise MissingFolderError(f"{path} does not exist", hint="`flow init` creates it") from error
            _make(path)
        except OSError:
            refuse_link(path, root)
            raise
        return os.open(path, _OPEN_FOLDER)


def refuse_link(path: str, root: str | os.PathLike[str]) -> None:
    """Raise UnsafeHandoffError if *path* is a symbolic link, wherever it leads."""
    if os.path.islink(path):  # noqa: PTH114 a string is given on hot paths
        real = inside(path, root)
        raise UnsafeHandoffError(
            f"{path} is a symbolic link to {real}; nothing was read or written",
            hint=f"remove the symbolic link {path}",
        )


def inside(path: str, root: str | os.PathLike[str]) -> str:
    """Return the real path of *path*; raise UnsafeHandoffError if it is outside of the project."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath((real, home)) != home:
        raise UnsafeHandoffError(
            f"{path} leads out of the project to {real}; nothing was read or written",
            hint=f"remove the symbolic link {path}",
        )
    return real


def unlinked(path: str, root: str | os.PathLike[str]) -> str:
    """Return *path*, below *root*, for writing; raise UnsafeHandoffError if any part of it is a link."""
    place = os.fspath(root)
    for part in Path(os.path.relpath(path, root)).parts:
        place = os.path.join(place, part)
        refuse_link(place, root)
    return inside(path, root)


def _make(path: str) -> None:
    # Built aside and moved into place, so that the folder is never seen without its .gitignore.
    aside = Path(f"{path}.new-{os.urandom(6).hex()}")
    aside.mkdir(mode=0o700)
    ignore = aside / ".gitignore"
    try:
        ignore.write_text("*\n", encoding="utf-8")
        aside.rename(path)
    except OSError as error:
        ignore.unlink(missing_ok=True)
        aside.rmdir()
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise


MAX_BROKEN_KEPT = 5
_TEMP_PREFIX = f".{HANDOFF}."
_TEMP_SUFFIX = ".tmp"


class Signature(NamedTuple):
    """Identifies a version of the file without reading it."""

    inode: int
    modified_ns: int
    size: int


class Stored(NamedTuple):
    """The content of the file when it was read."""

    mapping: Handoff | None
    header: str
    signature: Signature | None


NOTHING = Stored(None, "", None)


def signature_of(path: str | os.PathLike[str], *, dir_fd: int | None = None) -> Signature | None:
    """Return the signature of the file at *path*, None if it cannot be seen."""
    try:
        return _signature(os.stat(path, dir_fd=dir_fd))
    except OSError:
        return None


def read_stored(root: str | os.PathLike[str]) -> Stored:
    """Return the content of the project's handoff file, NOTHING without one. Create nothing.

    Raise HandoffError if there is one that cannot be read.
    """
    try:
        with Folder(root, create=False) as folder:
            return read_file(folder)
    except MissingFolderError:
        return NOTHING


def read_file(folder: Folder) -> Stored:
    """Return the content of the handoff file in *folder*; raise HandoffError if it cannot be read."""
    with wrap_os_errors("reading", os.path.join(folder.path, HANDOFF)):
        try:
            descriptor = os.open(target(folder), READ_FLAGS | os.O_NOFOLLOW, dir_fd=folder.descriptor)
        except FileNotFoundError:
            return NOTHING
        try:
            signature = _signature(os.fstat(descriptor))
            text = parse(_read(descriptor))
        finally:
            os.close(descriptor)
    return Stored(text.mapping, text.header, signature)


def _read(descriptor: int) -> bytes:
    try:
        return read_capped(descriptor, MAX_FILE_BYTES)
    except UnreadableFileError as error:
        raise BrokenHandoffError(str(error)) from error


def write_file(folder: Folder, data: bytes) -> Signature:
    """Replace the handoff file in *folder* durably and atomically."""
    with wrap_os_errors("writing", os.path.join(folder.path, HANDOFF)):
        goal = target(folder)
        # The directory is not synced: core.db has the content, and this write is what the person waits for.
        with temporary_file(HANDOFF, data, dir_fd=folder.descriptor) as temporary:
            signature = _signature(os.stat(temporary, dir_fd=folder.descriptor))
            os.rename(temporary, goal, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    return signature


def remove_file(folder: Folder) -> bool:
    """Delete the handoff file in *folder*; return True if there was one."""
    with wrap_os_errors("removing", os.path.join(folder.path, HANDOFF)):
        try:
            os.unlink(HANDOFF, dir_fd=folder.descriptor)
        except FileNotFoundError:
            return False
    return True


def set_aside(folder: Folder) -> str:
    """Keep the present handoff under a second name before it is replaced, and return that path."""
    with wrap_os_errors("keeping aside", os.path.join(folder.path, HANDOFF)):
        source, name = target(folder), _free_name(folder.descriptor)
        try:
            os.link(source, name, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
        except OSError:
            # A directory, or a file system without links: rename it before the new file is written.
            os.rename(source, name, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    return os.path.join(folder.path, name)


def sweep(folder: Folder) -> None:
    """Remove the temporary files of crashed writers; the caller holds the lock."""
    for name in os.listdir(folder.descriptor):
        if name.startswith(_TEMP_PREFIX) and name.endswith(_TEMP_SUFFIX):
            _remove(name, folder.descriptor)


def target(folder: Folder) -> str:
    """Return the name of the handoff file, to open or replace; raise UnsafeHandoffError if it is a link."""
    try:
        is_link = stat.S_ISLNK(os.lstat(HANDOFF, dir_fd=folder.descriptor).st_mode)
    except FileNotFoundError:
        return HANDOFF
    if is_link:
        refuse_link(os.path.join(folder.path, HANDOFF), folder.root)
    return HANDOFF


def _free_name(dir_fd: int) -> str:
    """Return a name for a broken file: a free one, else the oldest, never that of a directory."""
    taken = set(os.listdir(dir_fd))
    used: list[str] = []
    for number in itertools.count(1):
        name = f"{HANDOFF}.broken-{number}"
        if name not in taken:
            if len(used) < MAX_BROKEN_KEPT:
                return name
            break
        if not stat.S_ISDIR(os.lstat(name, dir_fd=dir_fd).st_mode):
            used.append(name)
    oldest = min(used, key=lambda name: os.lstat(name, dir_fd=dir_fd).st_mtime_ns)
    _remove(oldest, dir_fd)
    return oldest


def _remove(name: str, dir_fd: int) -> None:
    with suppress(FileNotFoundError, IsADirectoryError, PermissionError):  # a directory is not flowd's
        os.unlink(name, dir_fd=dir_fd)


def _signature(status: os.stat_result) -> Signature:
    return Signature(status.st_ino, status.st_mtime_ns, status.st_size)
