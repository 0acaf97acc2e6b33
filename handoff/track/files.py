"""Files below ``conductor/``: untrusted when read, replaced atomically, never through a link."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flowd.handoff.errors import BrokenHandoffError, HandoffBusyError, wrap_os_errors
from flowd.handoff.yaml.storage import inside, unlinked
from flowd.system.files import READ_FLAGS, UnreadableFileError, atomic_write, read_capped
from flowd.system.locks import wait_for_lock

MAX_FILE_BYTES = 1 << 20
LOCK_WAIT_S = 5.0
_USUAL_MODE = 0o644


def read_track_file(project: str, path: str) -> str | None:
    """Return the text at *path*, None without a file; raise HandoffError if it cannot be read."""
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
            raise BrokenHandoffError(f"{path} is not text: {error.reason}") from error
        finally:
            os.close(descriptor)


def replace_track_file(project: str, path: str, text: str) -> None:
    """Replace the file at *path* atomically; keep its mode."""
    with wrap_os_errors("writing", path):
        atomic_write(unlinked(path, Path(project)), text, mode=_USUAL_MODE, keep_mode=True)


def add_track_file(project: str, path: str, text: str) -> bool:
    """Write *text* to *path* unless it exists; return True if it was written."""
    with wrap_os_errors("writing", path):
        try:
            atomic_write(unlinked(path, Path(project)), text, mode=_USUAL_MODE, exclusive=True)
        except FileExistsError:
            return False
    return True


def make_track_folder(project: str, path: str) -> None:
    """Create the directory *path* inside the project if it is missing."""
    with wrap_os_errors("making", path):
        Path(unlinked(path, Path(project))).mkdir(parents=True, exist_ok=True)


@contextmanager
def track_lock(project: str, directory: str) -> Iterator[None]:
    """Lock *directory* against every other flowd process and thread."""
    with wrap_os_errors("locking", directory):
        # The directory itself is the lock: no extra file appears in the repository.
        descriptor = os.open(unlinked(directory, Path(project)), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _wait_for(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, directory: str) -> None:
    try:
        is_ours = wait_for_lock(descriptor, LOCK_WAIT_S)
    except OSError:
        return  # a file system that cannot lock directories: the replacement is still atomic
    if not is_ours:
        raise HandoffBusyError(f"{directory} is locked by another process", hint="try again")
