"""Which project a directory belongs to, asked of the disk at most twice a minute."""

import time

from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.workspace.project import resolve_project

REMEMBERED_S = 30.0
MAX_REMEMBERED = 1000

NOWHERE = ProjectPlace()


class ProjectResolver:
    """Answers where a session works; a directory that is no project gives way to the first one."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, ProjectPlace]] = {}

    def of(self, cwd: str, first_cwd: str) -> ProjectPlace:
        """Return the place of *cwd*, else of *first_cwd*, else nowhere."""
        place = self._look_up(cwd)
        return place if place.root or cwd == first_cwd else self._look_up(first_cwd)

    def _look_up(self, cwd: str) -> ProjectPlace:
        if not cwd:
            return NOWHERE
        now = time.monotonic()
        known = self._known.get(cwd)
        if known is not None and known[0] > now:
            return known[1]
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        place = _resolve(cwd)
        self._known[cwd] = (now + REMEMBERED_S, place)
        return place


def _resolve(cwd: str) -> ProjectPlace:
    project = resolve_project(cwd)
    if project is None:
        return NOWHERE
    return ProjectPlace(root=project.root, repository=project.repository, worktree=project.worktree)
