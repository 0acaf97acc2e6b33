"""What is watched beside the transcripts: git HEAD, conductors, task files, handoff documents."""

import os
from collections.abc import Sequence

from flowd.daemon.branches import Branches
from flowd.daemon.conductors import Conductors, Seen
from flowd.daemon.handoff_files import HandoffFiles
from flowd.daemon.task_files import TaskFiles
from flowd.daemon.watcher import Watcher
from flowd.handoff.git_files import read_branch
from flowd.store.facts import Fact
from flowd.store.journal import Journal


class Surroundings:
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

    def conducted(self, path: str) -> list[Seen]:
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


def handoffs_beside(projects_dir: str) -> str:
    """Return where handoffs stand when nobody says otherwise: beside ``projects``."""
    return os.path.join(os.path.dirname(projects_dir), "handoffs")
