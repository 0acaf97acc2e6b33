"""HEAD of git in the projects people work in: a switched branch is news before the next record says it."""

from flowd.daemon.watcher import Watcher
from flowd.handoff.git_files import enclosing_git_place

MOST_FOLLOWED = 500


class Branches:
    """Watches the git directory of each project that has a live session."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._roots: dict[str, set[str]] = {}
        self._followed: set[str] = set()

    def follow(self, root: str) -> None:
        """Have HEAD of the project at *root* watched, if it is in a repository."""
        if root in self._followed or len(self._followed) >= MOST_FOLLOWED:
            return
        self._followed.add(root)
        place = enclosing_git_place(root)
        if place is not None and self._watcher.watch(place.directory):
            self._roots.setdefault(place.head, set()).add(root)

    def roots_of(self, path: str) -> frozenset[str]:
        """Return the projects whose branch *path*, a HEAD file, names."""
        return frozenset(self._roots.get(path, ()))
