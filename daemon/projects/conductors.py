"""Watch the conductors of live projects: new tracks, and epics that a plan closes."""

# ruff: noqa: PTH113 - os.path returns False where Path raises

import os
from typing import NamedTuple

from flowd.daemon.reading.failures import Failures
from flowd.daemon.reading.watcher import Watcher
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.beads import EXPORT, exports_epics_below
from flowd.handoff.track.metadata import METADATA
from flowd.handoff.track.tracks import (
    CONDUCTOR,
    PLAN,
    Track,
    choose_track,
    has_conductor,
    tracks_directory,
    tracks_of,
)
from flowd.model.facts import Trigger

MAX_FOLLOWED = 200


class TrackEvent(NamedTuple):
    """A track was created or an epic closed, without a command that reported it."""

    root: str
    trigger: Trigger
    track: str
    epic: str = ""


class Conductors:
    """Knows the tracks of each followed project, and which phases of their plans are closed."""

    def __init__(self, watcher: Watcher, failures: Failures) -> None:
        self._failures = failures
        self._watcher = watcher
        self._closed: dict[str, dict[str, frozenset[str]]] = {}

    @property
    def paths(self) -> list[str]:
        """The paths to process again when events may have been missed."""
        return [tracks_directory(root) for root in self._closed]

    def use_watcher(self, watcher: Watcher) -> None:
        """Replace the watcher."""
        self._watcher = watcher
        for root in self._closed:
            self._watch(root)

    def follow(self, root: str) -> None:
        """Watch the project at *root* if it has a conductor; existing tracks are not reported."""
        if root in self._closed or len(self._closed) >= MAX_FOLLOWED or not has_conductor(root):
            return
        tracks = _created(root)
        for track in tracks:
            self._check(track)
        self._closed[root] = {track.name: track.plan().closed for track in tracks}
        self._watch(root)

    def owns(self, path: str) -> bool:
        """Return True if *path* is in the conductor of a followed project."""
        return self._root_of(path) is not None

    def events(self, path: str) -> list[TrackEvent]:
        """Return what happened at *path* since the last call."""
        root = self._root_of(path)
        if root is None or not has_conductor(root):
            return []
        self._watch(root)
        tracks = _created(root)
        for track in tracks:
            self._check(track)
        return [event for track in tracks for event in self._track_events(root, track)]

    def _check(self, track: Track) -> None:
        """List the files of *track* that cannot be read; without them it counts as one without content."""
        for name, read in ((METADATA, track.metadata), (PLAN, track.plan_text)):
            path = os.path.join(track.directory, name)
            try:
                read()
            except HandoffError as error:
                self._failures.add(path, error)
            else:
                self._failures.remove(path)

    def _track_events(self, root: str, track: Track) -> list[TrackEvent]:
        before, now = self._closed[root].get(track.name), track.plan().closed
        self._closed[root][track.name] = now
        if before is None:
            return [TrackEvent(root, "design-end", track.name)]
        if _has_beads_epic(track):
            return []
        return [TrackEvent(root, "epic-end", track.name, label) for label in sorted(now - before)]

    def _watch(self, root: str) -> None:
        """Watch the directory of tracks, the active track and unfinished ones: one shallow watch each."""
        if not self._watcher.watch(tracks_directory(root)):
            self._watcher.watch(os.path.join(root, CONDUCTOR))
            return
        active = choose_track(root)
        if not active.is_general:
            self._watcher.watch(active.directory)
        for directory in _unfinished(root):
            self._watcher.watch(directory)

    def _root_of(self, path: str) -> str | None:
        return next((root for root in self._closed if path.startswith(f"{root}/{CONDUCTOR}/")), None)


def _created(root: str) -> list[Track]:
    """Return the tracks that have a plan: without one they are still being created."""
    return [track for track in tracks_of(root) if os.path.isfile(os.path.join(track.directory, PLAN))]


def _unfinished(root: str) -> list[str]:
    try:
        with os.scandir(tracks_directory(root)) as entries:
            return [
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not os.path.isfile(os.path.join(entry.path, PLAN))
            ]
    except OSError:
        return []


def _has_beads_epic(track: Track) -> bool:
    """Return True if Beads' export has epics of this track, so that the plan is not used for them."""
    beads = os.path.join(track.project, ".beads")
    if not os.path.isfile(os.path.join(beads, EXPORT)):
        return False
    try:
        epic = track.metadata().epic
    except HandoffError:
        return False
    return bool(epic) and exports_epics_below(beads, epic)
