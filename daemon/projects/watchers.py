"""What is watched besides transcripts: git HEAD, tracks, documents; and which project a directory is in."""

import time
from collections.abc import Sequence

from flowd.daemon.projects.conductors import Conductors, TrackEvent
from flowd.daemon.projects.documents import HandoffFiles, TaskFiles
from flowd.daemon.reading.failures import Failures
from flowd.daemon.reading.watcher import Watcher
from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.model.facts import Fact
from flowd.model.session import SessionState, latest_activity
from flowd.redaction.live import LiveRedactor
from flowd.store.journal import Journal
from flowd.system.text import is_storable
from flowd.workspace.git import enclosing_git_place, read_branch
from flowd.workspace.project import resolve_project

CACHED_S = 30.0
MAX_CACHED = 1000

NO_PROJECT = ProjectPlace()


class ProjectResolver:
    """Maps a cwd to its project, cached for 30 s."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, ProjectPlace]] = {}

    def resolve(self, cwd: str, first_cwd: str) -> ProjectPlace:
        """Return the project of *cwd*, else of the session's *first_cwd*, else an empty place.

        A session that enters a part of its repository with a marker of its own stays with its project.
        """
        place = self._cached(cwd)
        if cwd == first_cwd or not first_cwd:
            return place
        first = self._cached(first_cwd)
        is_part = place.root.startswith(f"{first.root}/") and place.repository == first.repository
        return first if not place.root or (first.root and is_part) else place

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
    project = resolve_project(cwd) if cwd and is_storable(cwd) else None
    if project is None or not all(map(is_storable, project)):  # a name that core.db cannot hold
        return NO_PROJECT
    return ProjectPlace(root=project.root, repository=project.repository, worktree=project.worktree)


MAX_FOLLOWED = 500
LIVE_S = 86_400.0
# A followed project is examined again after this: it may have got a conductor or a repository.
FOLLOW_AGAIN_S = 10.0


class Branches:
    """Watches the git directory of each project with a live session."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._roots: dict[str, set[str]] = {}
        self._followed: set[str] = set()

    def follow(self, root: str) -> None:
        """Watch HEAD of the project at *root*, if it is in a repository."""
        if root in self._followed or len(self._followed) >= MAX_FOLLOWED:
            return
        self._followed.add(root)
        place = enclosing_git_place(root)
        if place is not None and self._watcher.watch(place.directory):
            self._roots.setdefault(place.head, set()).add(root)

    def roots_of(self, path: str) -> frozenset[str]:
        """Return the projects whose HEAD file is *path*."""
        return frozenset(self._roots.get(path, ()))


class ProjectWatchers:
    """Watches projects with live sessions, and the directory of handoff documents."""

    def __init__(
        self,
        journal: Journal,
        watcher: Watcher,
        task_globs: Sequence[str],
        handoffs_dir: str,
        redact: LiveRedactor,
        failures: Failures,
    ) -> None:
        self._redact = redact
        self._task_globs = task_globs
        self._branches = Branches(watcher)
        self._tasks = TaskFiles(watcher, task_globs, redact)
        self._follow_again_at: dict[str, float] = {}
        self.conductors = Conductors(watcher, failures)
        self.handoffs = HandoffFiles(handoffs_dir, journal, watcher, redact, failures)

    def use_watcher(self, watcher: Watcher) -> None:
        """Replace the watcher; projects are watched again when they are followed next."""
        self._branches = Branches(watcher)
        self._tasks = TaskFiles(watcher, self._task_globs, self._redact)
        self._follow_again_at.clear()
        self.conductors.use_watcher(watcher)
        self.handoffs.use_watcher(watcher)

    def forget_seen(self) -> None:
        """Have the task files of all projects read again at the next scan."""
        self._tasks.forget_seen()

    def follow(self, state: SessionState) -> list[str]:
        """Watch the project of a live session; return the paths that have to be scanned."""
        root, now = state.project, time.monotonic()
        is_live = time.time() - latest_activity(state) < LIVE_S
        if not root or not is_live or self._follow_again_at.get(root, 0.0) > now:
            return []
        if len(self._follow_again_at) > MAX_FOLLOWED:
            self._follow_again_at.clear()
        self._follow_again_at[root] = now + FOLLOW_AGAIN_S
        self._branches.follow(root)
        self.conductors.follow(root)
        return [root] if self._tasks.follow(root) else []

    def paths(self) -> list[str]:
        """Return the paths to process again when events may have been missed."""
        return [*self._tasks.roots, *self.conductors.paths]

    def changed_branches(self, path: str) -> list[tuple[str, str]]:
        """Return the projects whose HEAD file is *path*, each with its current branch."""
        if not path.endswith("/HEAD"):
            return []
        return [(root, read_branch(root)) for root in self._branches.roots_of(path)]

    def track_events(self, path: str) -> list[TrackEvent]:
        """Return what happened in the conductor at *path*."""
        return self.conductors.events(path) if self.conductors.owns(path) else []

    def facts(self, path: str) -> list[Fact]:
        """Return the facts of the handoff document or task file at *path*, if it has changed."""
        if self.handoffs.owns(path):
            return self.handoffs.facts(path)
        return self._tasks.facts(path) if path.endswith(".md") else []

    def scan(self, path: str) -> list[str]:
        """Return the changed task files below *path*, if it is a followed project or a directory of one."""
        return self._tasks.scan(path)

    def owns(self, path: str) -> bool:
        """Return True if *path* is one of the watched files or directories."""
        return (
            path.endswith(("/HEAD", ".md"))
            or self._tasks.owns(path)
            or self.conductors.owns(path)
            or self.handoffs.owns(path)
        )
