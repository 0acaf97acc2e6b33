"""Which project a directory belongs to."""

# ruff: noqa: PTH109, PTH110, PTH111, PTH112, PTH113, PTH117 - os.path answers False where Path raises, as for a folder that may not be entered

import os
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from flowd.workspace.git import enclosing_git_place
from flowd.workspace.git import read_branch as read_branch

FOLDER = ".flow-guardian"
_TEMP_ROOTS = ("/tmp", "/var/tmp", "/usr/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp")  # noqa: S108 - refused as projects, never written


class Project(NamedTuple):
    """A place of work: its root, the repository that identifies it, and which worktree of that it is."""

    root: str
    repository: str
    worktree: str


def find_project_root(cwd: str | None = None) -> Path:
    """Return the nearest directory upwards that holds a project marker, else the start itself, resolved."""
    start = _resolved(cwd or _working_directory())
    return Path(_marked_ancestor(start) or start)


def resolve_project(cwd: str) -> Project | None:
    """Return the project *cwd* lies in, or None where work belongs to no project: home, ``/``, temp roots."""
    if not os.path.isabs(cwd):
        return None
    start = _resolved(cwd)
    refused = _refused_roots()
    if not os.path.isdir(start):
        # Gone since: guessing a living ancestor would give a deleted worktree's words to another project.
        return None if start in refused else Project(start, start, "")
    root = _marked_ancestor(start) or start
    return None if root in refused else _project_at(root, refused)


def _project_at(root: str, refused: frozenset[str]) -> Project:
    # A repository kept in the home directory holds dotfiles; it does not identify what lies below.
    place = enclosing_git_place(root, stop_at=refused)
    return Project(root, place.common, place.worktree) if place else Project(root, root, "")


def _marked_ancestor(path: str) -> str | None:
    while not _is_marked(path):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path


def _is_marked(path: str) -> bool:
    return (
        os.path.isdir(os.path.join(path, FOLDER))
        or os.path.exists(os.path.join(path, ".git"))
        or os.path.isfile(os.path.join(path, "pyproject.toml"))
    )


def _refused_roots() -> frozenset[str]:
    # Imported here: it costs hooks more than the rest of this package, and they ask for no project.
    import tempfile

    return _with_real_paths("/", os.path.expanduser("~"), tempfile.gettempdir(), *_TEMP_ROOTS)


@lru_cache(maxsize=4)
def _with_real_paths(*named: str) -> frozenset[str]:
    return frozenset(named) | frozenset(map(os.path.realpath, named))


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        # A name the system cannot look up (with a NUL byte) is still a name.
        return path


def _working_directory() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.environ.get("PWD") or "/"
