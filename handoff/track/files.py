"""Files below ``conductor/``: read without trust, replaced whole, never through a link out of the project."""

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flowd.handoff.errors import BrokenHandoffError, HandoffBusyError, wrap_os_errors
from flowd.handoff.yaml.storage import inside
from flowd.system.files import READ_FLAGS, UnreadableFileError, read_capped

MAX_FILE_BYTES = 1 << 20
LOCK_WAIT_S = 5.0
_LOCK_POLL_S = 0.002
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_USUAL_MODE = 0o644


def read_track_file(project: str, path: str) -> str | None:
    """Return the text at *path*, None where there is none; raise where it cannot be taken."""
    with wrap_os_errors("reading", path):
        try:
            descriptor = os.open(inside(path, Path(project)), READ_FLAGS | os.O_NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            return read_capped(descriptor, MAX_FILE_BYTES).decode()
        except UnreadableFileError as error:
            raise BrokenHandoffError(f"{path}: {error}") from error
        except UnicodeDecodeError as error:
            raise BrokenHandoffError(f"{path} is no text: {error.reason}") from error
        finally:
            os.close(descriptor)


def replace_track_file(project: str, path: str, text: str) -> None:
    """Replace the file at *path* by *text* at once, its mode kept; a failure leaves the old one."""
    with wrap_os_errors("writing", path):
        goal = inside(path, Path(project))
        with _temporary(goal, text) as temporary:
            os.rename(temporary, goal)  # noqa: PTH104 strings are wanted


def add_track_file(project: str, path: str, text: str) -> bool:
    """Write *text* to *path* unless something is there already; say whether it was written."""
    with wrap_os_errors("writing", path):
        goal = inside(path, Path(project))
        with _temporary(goal, text) as temporary:
            try:
                os.link(temporary, goal, follow_symlinks=False)
            except FileExistsError:
                return False
    return True


def make_track_folder(project: str, path: str) -> None:
    """Have the directory *path* exist inside the project."""
    with wrap_os_errors("making", path):
        Path(inside(path, Path(project))).mkdir(parents=True, exist_ok=True)


@contextmanager
def track_lock(project: str, directory: str) -> Iterator[None]:
    """Hold *directory* against every other flowd process and thread."""
    with wrap_os_errors("locking", directory):
        # The directory itself is the lock: no extra file appears in the repository.
        descriptor = os.open(inside(directory, Path(project)), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _wait_for(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, directory: str) -> None:
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise HandoffBusyError(
                    f"{directory} is locked by another process", hint="try again in a moment"
                ) from None
            time.sleep(_LOCK_POLL_S)
        except OSError:
            return None  # a file system that cannot lock directories: the replacement is still atomic


@contextmanager
def _temporary(goal: str, text: str) -> Iterator[str]:
    """Yield a file beside *goal* that holds *text*, safe on disk; what is left of it goes."""
    temporary = os.path.join(os.path.dirname(goal), f".flowd-{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, _NEW_FILE, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
            os.fchmod(file.fileno(), _mode_of(goal))
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108 a string is given


def _mode_of(path: str) -> int:
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return _USUAL_MODE
