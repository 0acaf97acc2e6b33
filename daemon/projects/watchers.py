"""What is watched beside the transcripts: git HEAD, conductors, task files, handoff documents."""

import os
from collections.abc import Sequence

from flowd.daemon.projects.conductors import Conductors, TrackEvent
from flowd.daemon.projects.handoff_files import HandoffFiles
from flowd.daemon.projects.task_files import TaskFiles
from flowd.daemon.reading.watcher import Watcher
from flowd.model.facts import Fact
from flowd.store.journal import Journal
from flowd.workspace.git import enclosing_git_place, read_branch

MAX_FOLLOWED = 500


class Branches:
    """Watches the git directory of each project that has a live session."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._roots: dict[str, set[str]] = {}
        self._followed: set[str] = set()

    def follow(self, root: str) -> None:
        """Have HEAD of the project at *root* watched, if it is in a repository."""
        if root in self._followed or len(self._followed) >= MAX_FOLLOWED:
            return
        self._followed.add(root)
        place = enclosing_git_place(root)
        if place is not None and self._watcher.watch(place.directory):
            self._roots.setdefault(place.head, set()).add(root)

    def roots_of(self, path: str) -> frozenset[str]:
        """Return the projects whose branch *path*, a HEAD file, names."""
        return frozenset(self._roots.get(path, ()))


class ProjectWatchers:
    """The named places of projects with live sessions, and the directory of handoffs."""

    def __init__(
        self, journal: Journal, watcher: Watcher, task_globs: Sequence[str], handoffs_dir: str
    ) -> None:
        self._task_globs = task_globs
        self._branches = Branches(watcher)
        self._tasks = TaskFiles(watcher, task_globs)
        self.conductors = Conductors(watcher)
        self.handoffs = HandoffFiles(handoffs_dir, journal, watcher)

    def use_watcher(self, watcher: Watcher) -> None:
        """Go on with a new watcher."""
        self._branches = Branches(watcher)
        self._tasks = TaskFiles(watcher, self._task_globs)
        self.conductors.use_watcher(watcher)
        self.handoffs.use_watcher(watcher)

    def follow(self, root: str) -> list[str]:
        """Take on the project at *root*; return what is to be looked at when there is time."""
        self._branches.follow(root)
        self.conductors.follow(root)
        return [root] if self._tasks.follow(root) else []

    def places(self) -> list[str]:
        """Return what is to be looked at again when events may have been missed."""
        return [*self._tasks.roots, *self.conductors.places]

    def moved_branches(self, path: str) -> list[tuple[str, str]]:
        """Return the projects whose branch *path* names, each with its branch now."""
        if not path.endswith("/HEAD"):
            return []
        return [(root, read_branch(root)) for root in self._branches.roots_of(path)]

    def conducted(self, path: str) -> list[TrackEvent]:
        """Return what a conductor did at *path*."""
        return self.conductors.look(path) if self.conductors.owns(path) else []

    def facts(self, path: str) -> list[Fact]:
        """Return what the handoff or task file at *path* says, if it is one and has changed."""
        if self.handoffs.owns(path):
            return self.handoffs.look(path)
        return self._tasks.facts(path) if path.endswith(".md") else []

    def scan(self, path: str) -> list[str]:
        """Return the changed task files below *path*, if it is the root of a followed project."""
        return self._tasks.scan(path)

    def owns(self, path: str) -> bool:
        """Say whether *path* is one of these places, so that nothing else is to be made of it."""
        return (
            path.endswith(("/HEAD", ".md"))
            or path in self._tasks.roots
            or self.conductors.owns(path)
            or self.handoffs.owns(path)
        )


def default_handoffs_dir(projects_dir: str) -> str:
    """Return where handoffs stand when nobody says otherwise: beside ``projects``."""
    return os.path.join(os.path.dirname(projects_dir), "handoffs")
