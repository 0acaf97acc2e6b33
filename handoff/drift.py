"""What has changed in a project since a state was written: branch, commits, files. Starts no git."""

import os
import time
from typing import NamedTuple

from flowd.handoff.git_files import enclosing_git_place, read_branch

REFLOG_TAIL_BYTES = 64 << 10
FILES_NAMED = 3


class Then(NamedTuple):
    """What a state said about the project when it was written."""

    branch: str
    files: tuple[str, ...]
    at: float


def drift(root: str, then: Then) -> list[str]:
    """Return a sentence for each way in which the project at *root* is no longer as it was *then*."""
    found = []
    branch = read_branch(root)
    if branch and then.branch and branch != then.branch:
        found.append(f"the branch was {then.branch}, now it is {branch}")
    commits = commits_since(root, then.at)
    if commits:
        found.append(f"{commits} commit{'s' if commits > 1 else ''} since")
    gone, changed = _files(root, then)
    if gone:
        found.append(f"gone: {_named(gone)}")
    if changed:
        found.append(f"changed since: {_named(changed)}")
    return found


def commits_since(root: str, moment: float) -> int:
    """Return how many commits this checkout's reflog has after *moment*, as far back as its tail goes."""
    place = enclosing_git_place(root)
    if place is None or not moment:
        return 0
    try:
        with open(os.path.join(place.directory, "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - REFLOG_TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return 0
    return sum(_is_commit_after(line, moment) for line in lines)


def _is_commit_after(line: bytes, moment: float) -> bool:
    who, _, action = line.partition(b"\t")
    try:
        at = int(who.rsplit(b" ", 2)[1])
    except (IndexError, ValueError):
        return False
    return at > moment and action.startswith((b"commit", b"merge", b"pull", b"cherry-pick", b"revert"))


def _files(root: str, then: Then) -> tuple[list[str], list[str]]:
    gone, changed = [], []
    for name in then.files:
        try:
            modified = os.stat(os.path.join(root, name)).st_mtime
        except OSError:
            gone.append(name)
            continue
        # A state is written a moment after the edit it tells of: give it a minute's grace.
        if then.at and modified > then.at + 60 and modified <= time.time() + 60:
            changed.append(name)
    return gone, changed


def _named(files: list[str]) -> str:
    more = len(files) - FILES_NAMED
    return ", ".join(files[:FILES_NAMED]) + (f" (+{more} more)" if more > 0 else "")
