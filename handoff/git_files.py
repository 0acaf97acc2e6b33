"""What git's own files say about a directory, read without starting git."""

# ruff: noqa: PTH100, PTH112 - os.path answers False where Path raises, as for a folder that may not be entered

import os
from typing import NamedTuple

from flowd.handoff.small_file import read_line

_BRANCHES = "refs/heads/"
# Repositories in the reftable format keep this fixed text in HEAD; the branch stands elsewhere.
_REFTABLE_PLACEHOLDER = ".invalid"
_SHORT_SHA = 7


class GitPlace(NamedTuple):
    """Where one checkout keeps its own state, and where its repository lives."""

    directory: str
    common: str
    worktree: str

    @property
    def head(self) -> str:
        """Path of the HEAD file that names this checkout's branch."""
        return os.path.join(self.directory, "HEAD")


def git_place(checkout: str) -> GitPlace | None:
    """Return the git directories of the checkout whose top is *checkout*, or None when it is none."""
    marker = os.path.join(checkout, ".git")
    if os.path.isdir(marker):
        directory = os.path.realpath(marker)
        return GitPlace(directory, directory, "")
    kind, _, target = read_line(marker).partition(":")
    if kind != "gitdir" or not target.strip():
        return None
    return _linked_place(os.path.realpath(os.path.join(checkout, target.strip())))


def enclosing_git_place(path: str, stop_at: frozenset[str] = frozenset()) -> GitPlace | None:
    """Return the nearest checkout around *path*, never looking into the directories of *stop_at*."""
    while path not in stop_at:
        if place := git_place(path):
            return place
        parent = os.path.dirname(path)
        if parent == path:
            break
        path = parent
    return None


def read_branch(root: str | os.PathLike[str]) -> str:
    """Return the branch checked out at *root*, a short commit id when detached, or ``""``."""
    place = enclosing_git_place(os.path.abspath(root))
    return _branch_of(read_line(place.head)) if place else ""


def _linked_place(directory: str) -> GitPlace:
    common = read_line(os.path.join(directory, "commondir"))
    if not common:
        # A submodule: its directory below .git/modules is a whole repository.
        return GitPlace(directory, directory, "")
    return GitPlace(directory, os.path.realpath(os.path.join(directory, common)), os.path.basename(directory))


def _branch_of(head: str) -> str:
    kind, _, reference = head.partition(":")
    if kind == "ref":
        name = reference.strip().removeprefix(_BRANCHES)
        return name if name != _REFTABLE_PLACEHOLDER and name.isprintable() else ""
    is_commit = len(head) in (40, 64) and all(letter in "0123456789abcdef" for letter in head)
    return head[:_SHORT_SHA] if is_commit else ""
