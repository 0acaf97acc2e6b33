"""Directories named by the contract's first version, moved to their names of today; nothing is lost."""

import itertools
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flowd.handoff.errors import wrap_os_errors
from flowd.handoff.markdown.directory import encode_path, is_v1_name
from flowd.system.files import move_without_replacing


class Move(NamedTuple):
    """One directory and the name it should have; ``merges`` when that name is taken."""

    source: str
    target: str
    entries: int
    merges: bool


def planned_moves(handoffs: str) -> list[Move]:
    """Return the directories of *handoffs* that still bear a name of the first version."""
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
