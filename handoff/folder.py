"""The project's ``.flow-guardian`` folder, opened once and never left through a symbolic link."""

import errno
import fcntl
import os
import time
from pathlib import Path

from flowd.handoff.errors import HandoffBusyError, HandoffDiskError, UnsafeHandoffError, told_plainly
from flowd.handoff.project import FOLDER

HANDOFF = "handoff.yaml"
LOCK = ".lock"
LOCK_WAIT_S = 5.0
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_LOCK_POLL_S = 0.002
# NFS locks only files opened for writing, and a folder cannot be.
_CANNOT_LOCK_FOLDERS = frozenset({errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP})


class Folder:
    """An open ``.flow-guardian``: all names are looked up from its descriptor, so it cannot be swapped."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        """Open the folder of the project at *root*, making it when it is missing."""
        self.root = root
        self.path = os.path.join(root, FOLDER)
        self.descriptor = _open_inside(self.path, root)
        self._lock_file: int | None = None

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder, and of its lock if held."""
        if self._lock_file is not None:
            os.close(self._lock_file)
        os.close(self.descriptor)

    def lock(self, wait_s: float = LOCK_WAIT_S) -> None:
        """Hold the folder against every other process and thread until ``close``."""
        deadline = time.monotonic() + wait_s
        while not self._try_lock():
            if time.monotonic() >= deadline:
                raise HandoffBusyError(
                    f"{self.path} is locked by another process for more than {wait_s:g} s",
                    hint="see who holds it with: fuser -v " + self.path,
                )
            time.sleep(_LOCK_POLL_S)

    def _try_lock(self) -> bool:
        try:
            fcntl.flock(self._lockable(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if self._lock_file is None and error.errno in _CANNOT_LOCK_FOLDERS:
                self._lock_file = self._open_lock_file()
                return False
            raise HandoffDiskError(f"Failed locking {self.path}: {error.strerror}") from error
        return True

    def _lockable(self) -> int:
        # The folder itself is the lock: no extra file appears in a repository that tracks its folder.
        return self.descriptor if self._lock_file is None else self._lock_file

    def _open_lock_file(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        with told_plainly("locking", os.path.join(self.path, LOCK)):
            return os.open(LOCK, flags, 0o600, dir_fd=self.descriptor)


def _open_inside(path: str, root: str | os.PathLike[str]) -> int:
    with told_plainly("opening", path):
        try:
            return os.open(path, _OPEN_FOLDER | os.O_NOFOLLOW)
        except FileNotFoundError:
            _make(path)
        except OSError:
            if not Path(path).is_symlink():
                raise
        return os.open(inside(path, root), _OPEN_FOLDER | os.O_NOFOLLOW)


def inside(path: str, root: str | os.PathLike[str]) -> str:
    """Return the real path of *path*, or raise when symbolic links take it out of the project."""
    real, home = os.path.realpath(path), os.path.realpath(root)
    if os.path.commonpath((real, home)) != home:
        raise UnsafeHandoffError(
            f"{path} leads out of the project to {real}; nothing was read or written",
            hint=f"remove the symbolic link {path}",
        )
    return real


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
