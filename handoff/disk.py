"""handoff.yaml on disk: read without trust, replaced whole, never lost when broken."""

import itertools
import os
import stat
from typing import NamedTuple

from flowd.handoff.document import Handoff
from flowd.handoff.errors import told_plainly
from flowd.handoff.folder import HANDOFF, Folder, inside
from flowd.handoff.small_file import READ_FLAGS, read_capped
from flowd.handoff.yaml_text import LARGEST_FILE, Entries, parse

MOST_BROKEN_KEPT = 5
_TEMP_PREFIX = f".{HANDOFF}."
_TEMP_SUFFIX = ".tmp"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_serial = itertools.count()


class Signature(NamedTuple):
    """Tells one state of the file from another without reading it."""

    inode: int
    modified_ns: int
    size: int


class Stored(NamedTuple):
    """What the file held when it was read."""

    mapping: Handoff | None
    header: str
    signature: Signature | None
    entries: Entries | None = None


NOTHING = Stored(None, "", None)


def signature_of(path: str | os.PathLike[str], *, dir_fd: int | None = None) -> Signature | None:
    """Return the signature of the file at *path*, or None when there is none to see."""
    try:
        return _signature(os.stat(path, dir_fd=dir_fd))
    except OSError:
        return None


def read_file(folder: Folder) -> Stored:
    """Return what the handoff in *folder* holds, or raise saying why it cannot be taken."""
    with told_plainly("reading", os.path.join(folder.path, HANDOFF)):
        try:
            descriptor = os.open(target(folder), READ_FLAGS | os.O_NOFOLLOW, dir_fd=folder.descriptor)
        except FileNotFoundError:
            return NOTHING
        try:
            signature = _signature(os.fstat(descriptor))
            text = parse(read_capped(descriptor, LARGEST_FILE))
        finally:
            os.close(descriptor)
    return Stored(text.mapping, text.header, signature)


def write_file(folder: Folder, data: bytes) -> Signature:
    """Replace the handoff in *folder* by *data*, durably and at once; a failure leaves the old one."""
    temporary = f"{_TEMP_PREFIX}{os.getpid()}-{next(_serial)}-{os.urandom(4).hex()}{_TEMP_SUFFIX}"
    with told_plainly("writing", os.path.join(folder.path, HANDOFF)):
        goal = target(folder)
        try:
            signature = _write_new(temporary, data, folder.descriptor)
            os.rename(temporary, goal, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
        except BaseException:
            _remove(temporary, folder.descriptor)
            raise
    return signature


def remove_file(folder: Folder) -> bool:
    """Delete the handoff in *folder*; tell whether there was one."""
    with told_plainly("removing", os.path.join(folder.path, HANDOFF)):
        try:
            os.unlink(HANDOFF, dir_fd=folder.descriptor)
        except FileNotFoundError:
            return False
    return True


def set_aside(folder: Folder) -> str:
    """Keep the present handoff under a second name before it is replaced, and return that path."""
    with told_plainly("keeping aside", os.path.join(folder.path, HANDOFF)):
        source, name = target(folder), _free_name(folder.descriptor)
        try:
            os.link(source, name, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
        except OSError:
            # A directory, or a file system without links: then the broken one goes before the new one comes.
            os.rename(source, name, src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    return os.path.join(folder.path, name)


def sweep(folder: Folder) -> None:
    """Remove what writers that died left behind; only for the holder of the lock."""
    for name in os.listdir(folder.descriptor):
        if name.startswith(_TEMP_PREFIX) and name.endswith(_TEMP_SUFFIX):
            _remove(name, folder.descriptor)


def target(folder: Folder) -> str:
    """Return the name to open or replace: the handoff, or what a link inside the project means by it."""
    try:
        is_link = stat.S_ISLNK(os.lstat(HANDOFF, dir_fd=folder.descriptor).st_mode)
    except FileNotFoundError:
        return HANDOFF
    return inside(os.path.join(folder.path, HANDOFF), folder.root) if is_link else HANDOFF


def _write_new(name: str, data: bytes, dir_fd: int) -> Signature:
    descriptor = os.open(name, _NEW_FILE, 0o600, dir_fd=dir_fd)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
        return _signature(os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _free_name(dir_fd: int) -> str:
    names = [f"{HANDOFF}.broken-{number}" for number in range(1, MOST_BROKEN_KEPT + 1)]
    taken = set(os.listdir(dir_fd))
    for name in names:
        if name not in taken:
            return name
    oldest = min(names, key=lambda name: os.lstat(name, dir_fd=dir_fd).st_mtime_ns)
    _remove(oldest, dir_fd)
    return oldest


def _remove(name: str, dir_fd: int) -> None:
    try:
        os.unlink(name, dir_fd=dir_fd)
    except FileNotFoundError:
        return


def _signature(status: os.stat_result) -> Signature:
    return Signature(status.st_ino, status.st_mtime_ns, status.st_size)
