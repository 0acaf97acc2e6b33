"""Map a working directory to its project."""

import time

from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.workspace.project import resolve_project

CACHED_S = 30.0
MAX_CACHED = 1000

NO_PROJECT = ProjectPlace()


class ProjectResolver:
    """Maps a cwd to its project, cached for 30 s."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, ProjectPlace]] = {}

    def resolve(self, cwd: str, first_cwd: str) -> ProjectPlace:
        """Return the project of *cwd*, else of the session's *first_cwd*, else an empty place."""
        place = self._cached(cwd)
        return place if place.root or cwd == first_cwd else self._cached(first_cwd)

    def _cached(self, cwd: str) -> ProjectPlace:
        now = time.monotonic()
        valid_until, place = self._cache.get(cwd, (0.0, NO_PROJECT))
        if valid_until <= now:
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            place = _resolve(cwd)
            self._cache[cwd] = (now + CACHED_S, place)
        return place


def _resolve(cwd: str) -> ProjectPlace:
    project = resolve_project(cwd) if cwd else None
    if project is None:
        return NO_PROJECT
    return ProjectPlace(root=project.root, repository=project.repository, worktree=project.worktree)
