"""What has changed in a project since a state was recorded: branch, commits, files. Starts no git."""

import os
import time
from typing import NamedTuple

from flowd.system.text import and_more
from flowd.workspace.git import read_branch, reflog

FILES_NAMED = 3


class RecordedState(NamedTuple):
    """The project as it was when a state was recorded."""

    branch: str
    files: tuple[str, ...]
    at: float


def drift(root: str, then: RecordedState) -> list[str]:
    """Return a sentence for each difference between the project at *root* and *then*."""
    found = []
    branch = read_branch(root)
    if branch and then.branch and branch != then.branch:
        found.append(f"the branch was {then.branch}, now it is {branch}")
    commits = commits_since(root, then.at)
    if commits:
        found.append(f"{commits} commit{'s' if commits > 1 else ''} since")
    gone, changed = _files(root, then)
    if gone:
        found.append(f"gone: {and_more(gone, FILES_NAMED)}")
    if changed:
        found.append(f"changed since: {and_more(changed, FILES_NAMED)}")
    return found


def commits_since(root: str, since: float) -> int:
    """Return how many commits this checkout's reflog has after *since*, as far back as its tail goes."""
    return sum(entry.is_commit and entry.at > since for entry in reflog(root)) if since else 0


def _files(root: str, then: RecordedState) -> tuple[list[str], list[str]]:
    gone, changed = [], []
    for name in then.files:
        try:
            modified = os.stat(os.path.join(root, name)).st_mtime
        except OSError:
            gone.append(name)
            continue
        # A state is written shortly after the edit that caused it: allow a minute.
        if then.at and modified > then.at + 60 and modified <= time.time() + 60:
            changed.append(name)
    return gone, changed
