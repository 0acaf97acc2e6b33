"""What a checkout's reflog tells: its latest commits and where it stands. Starts no git."""

import os
from typing import NamedTuple

from flowd.handoff.git_files import enclosing_git_place

TAIL_BYTES = 64 << 10
SHORT_SHA = 7
_OF_COMMITS = (b"commit", b"merge", b"pull", b"cherry-pick", b"revert")


class Entry(NamedTuple):
    """One movement of HEAD."""

    commit: str
    at: int
    is_commit: bool
    subject: str


def reflog(root: str) -> list[Entry]:
    """Return the movements of the checkout around *root*, oldest first, as far back as the tail goes."""
    place = enclosing_git_place(root)
    if place is None:
        return []
    try:
        with open(os.path.join(place.directory, "logs", "HEAD"), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except OSError:
        return []
    return [entry for line in lines if (entry := _entry(line)) is not None]


def commits_between(root: str, start: float, end: float, most: int) -> list[str]:
    """Return the subjects of the latest *most* commits from *start* to *end*, oldest first."""
    found = [entry.subject for entry in reflog(root) if entry.is_commit and start <= entry.at <= end]
    return [subject for subject in found if subject][-most:]


def head_commit(root: str) -> str:
    """Return the short id of the commit that is checked out, or ``""`` when the reflog does not say."""
    entries = reflog(root)
    return entries[-1].commit[:SHORT_SHA] if entries else ""


def _entry(line: bytes) -> Entry | None:
    who, _, action = line.partition(b"\t")
    words = who.split(b" ", 2)
    try:
        at = int(who.rsplit(b" ", 2)[1])
        commit = words[1].decode("ascii")
    except (IndexError, ValueError):
        return None
    subject = action.partition(b": ")[2].decode("utf-8", "replace").strip()
    return Entry(commit, at, action.startswith(_OF_COMMITS), subject if action.startswith(b"commit") else "")
