"""The handoff directories: their names, old names migrated, and their files found, added and replaced."""

import hashlib
import itertools
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flowd.config.paths import claude_config_dir, make_private_dir
from flowd.handoff.errors import HandoffError, wrap_os_errors
from flowd.system.files import atomic_write, move_without_replacing

# The longest name of most file systems; encrypted ones allow less and raise by themselves.
MAX_NAME_BYTES = 255
_UNSAFE = re.compile(r"[^a-zA-Z0-9-]")
_UNSAFE_V1 = re.compile(r"[/.]")


class HandoffNameError(HandoffError, ValueError):
    """The encoded path is longer than any file name may be."""


def encode_path(path: str) -> str:
    """Return *path* with every character but letters, digits and ``-`` replaced by ``-``.

    Several paths share one result, so it is never decoded.
    """
    return _UNSAFE.sub("-", path)


def encode_path_v1(path: str) -> str:
    """Return the name that the first version of the contract gave: only ``/`` and ``.`` replaced."""
    return _UNSAFE_V1.sub("-", path)


def directory_name(working_directory: str) -> str:
    """Return the name of the handoff directory for *working_directory*, symbolic links resolved."""
    physical = os.path.realpath(working_directory)
    name = encode_path(physical)
    if len(name) > MAX_NAME_BYTES:
        raise HandoffNameError(
            f"the handoff directory of {physical} would have a name of {len(name)} bytes; "
            f"{MAX_NAME_BYTES} are possible",
            hint="what is known stays in core.db (`flow show`); a shorter path would have a directory",
        )
    return name


def is_v1_name(name: str) -> bool:
    """Return True if *name* can only come from the first version of the contract."""
    return name.startswith("-") and encode_path(name) != name


SUFFIX = ".md"


class HandoffFile(NamedTuple):
    """One file of a handoff directory."""

    path: str
    modified_ns: int
    size: int

    @property
    def modified_at(self) -> float:
        """When it was last written, in seconds."""
        return self.modified_ns / 1e9


def handoff_files(directory: str) -> list[HandoffFile]:
    """Return the ``*.md`` files of *directory*, newest first, in the order of ``ls -t``."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    files = (stat_handoff(os.path.join(directory, name)) for name in names if is_handoff_name(name))
    found = [file for file in files if file is not None]
    return sorted(found, key=lambda file: (-file.modified_ns, file.path))


def is_handoff_name(name: str) -> bool:
    """Return True if the name matches ``*.md`` as in a shell."""
    return name.endswith(SUFFIX) and not name.startswith(".")


def stat_handoff(path: str) -> HandoffFile | None:
    """Return the size and time of the file at *path*, None if it is not a regular file."""
    try:
        own, meant = os.lstat(path), os.stat(path)
        path.encode()  # core.db stores text: skip a name that is not
    except (OSError, UnicodeEncodeError):
        return None
    return HandoffFile(path, own.st_mtime_ns, meant.st_size) if stat.S_ISREG(meant.st_mode) else None


def directories_of(handoffs: str, *places: str) -> list[str]:
    """Return the existing handoff directories of *places*, the contract's own before those of its v1."""
    physical = [os.path.realpath(place) for place in places]
    names = [encode_path(place) for place in physical] + [encode_path_v1(place) for place in physical]
    directories = [os.path.join(handoffs, name) for name in dict.fromkeys(names)]
    return [directory for directory in directories if os.path.isdir(directory)]  # noqa: PTH112 answers, never raises


def add_file(directory: str, stem: str, text: str) -> str:
    """Write *text* to a new file named after *stem* and return its path; no other file is touched."""
    with wrap_os_errors("writing a handoff in", directory):
        make_private_dir(Path(directory))
        for number in itertools.count(1):
            path = os.path.join(directory, f"{stem}{f'-{number}' if number > 1 else ''}{SUFFIX}")
            with suppress(FileExistsError):
                atomic_write(path, text, exclusive=True)
                return path
    raise AssertionError  # the count has no end


def replace_file(path: str, text: str, modified_ns: int | None = None) -> None:
    """Replace the file at *path* by *text* at once, dated *modified_ns* if given."""
    with wrap_os_errors("writing", path):
        make_private_dir(Path(path).parent)
        atomic_write(path, text, modified_ns=modified_ns)


def text_digest(data: bytes) -> str:
    """Return a digest of the content."""
    return hashlib.blake2b(data, digest_size=12).hexdigest()


HANDOFFS = "handoffs"


def handoffs_dir(configured: str | None) -> str:
    """Return ``handoffs`` in Claude Code's directory: the *configured* or the usual one, resolved."""
    return os.path.realpath(claude_config_dir(configured) / HANDOFFS)


class Move(NamedTuple):
    """One directory and the name it should have; ``merges`` when that name is taken."""

    source: str
    target: str
    entries: int
    merges: bool


def planned_moves(handoffs: str) -> list[Move]:
    """Return the directories of *handoffs* that still have a name of the first version."""
    try:
        names = sorted(name for name in os.listdir(handoffs) if is_v1_name(name))
    except OSError:
        return []
    targets = [os.path.join(handoffs, encode_path(name)) for name in names]
    return [
        Move(source, target, len(os.listdir(source)), os.path.lexists(target) or target in targets[:index])
        for index, (name, target) in enumerate(zip(names, targets, strict=True))
        if os.path.isdir(source := os.path.join(handoffs, name))  # noqa: PTH112 answers, never raises
    ]


def migrate_directory(move: Move) -> list[str]:
    """Carry out *move*; return where each file is now. Times are kept, a clash gets a second name."""
    with wrap_os_errors("migrating", move.source):
        Path(move.target).mkdir(mode=0o700, exist_ok=True)
        moved = [
            _moved(os.path.join(move.source, name), move.target) for name in sorted(os.listdir(move.source))
        ]
        # Something may have been written there meanwhile: then it stays, and the next run takes it.
        with suppress(OSError):
            Path(move.source).rmdir()
    return moved


def _moved(source: str, directory: str) -> str:
    stem, suffix = os.path.splitext(os.path.basename(source))  # noqa: PTH122 a string is wanted
    for number in itertools.count(1):
        target = os.path.join(directory, f"{stem}{f'-{number}' if number > 1 else ''}{suffix}")
        with suppress(FileExistsError):
            _move(source, target)
            return target
    raise AssertionError  # the count has no end


def _move(source: str, target: str) -> None:
    if os.path.islink(source) or not os.path.isdir(source):  # noqa: PTH112, PTH114 answers, never raises
        move_without_replacing(source, target)
    elif os.path.lexists(target):
        raise FileExistsError(target)
    else:
        os.rename(source, target)  # noqa: PTH104 strings are wanted
