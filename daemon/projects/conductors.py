"""Conductors of the projects people work in: a track that was created, an epic that its plan closes."""

# ruff: noqa: PTH113 - os.path answers False where Path raises

import os
import time
from typing import NamedTuple

from flowd.daemon.reading.watcher import Watcher
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.beads import EXPORT
from flowd.handoff.track.tracks import (
    CONDUCTOR,
    Track,
    choose_track,
    has_conductor,
    tracks_directory,
    tracks_of,
)
from flowd.model.facts import Trigger

MAX_FOLLOWED = 200
LOOK_AGAIN_S = 10.0


class TrackEvent(NamedTuple):
    """Something of the conductor's that happened without a command saying so."""

    root: str
    trigger: Trigger
    track: str
    epic: str = ""


class Conductors:
    """Knows each followed project's tracks, and which phases of their plans are closed."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._closed: dict[str, dict[str, frozenset[str]]] = {}
        self._looked_at: dict[str, float] = {}

    @property
    def places(self) -> list[str]:
        """What to look at when events may have been missed."""
        return [tracks_directory(root) for root in self._closed]

    def use_watcher(self, watcher: Watcher) -> None:
        """Go on with a new watcher."""
        self._watcher = watcher
        for root in self._closed:
            self._watch(root)

    def follow(self, root: str) -> None:
        """Take on the project at *root* if it has a conductor; what is there already is no news."""
        now = time.monotonic()
        if root in self._closed or self._looked_at.get(root, 0.0) > now or len(self._closed) >= MAX_FOLLOWED:
            return
        if len(self._looked_at) > MAX_FOLLOWED:
            self._looked_at.clear()
        self._looked_at[root] = now + LOOK_AGAIN_S
        if has_conductor(root):
            self._closed[root] = {track.name: track.plan().closed for track in _created(root)}
            self._watch(root)

    def owns(self, path: str) -> bool:
        """Say whether *path* lies in the conductor of a followed project."""
        return self._root_of(path) is not None

    def look(self, path: str) -> list[TrackEvent]:
        """Return what has happened at *path* since the last look."""
        root = self._root_of(path)
        if root is None or not has_conductor(root):
            return []
        self._watch(root)
        return [seen for track in _created(root) for seen in self._news(root, track)]

    def _news(self, root: str, track: Track) -> list[TrackEvent]:
        before, now = self._closed[root].get(track.name), track.plan().closed
        self._closed[root][track.name] = now
        if before is None:
            return [TrackEvent(root, "design-end", track.name)]
        if _told_by_beads(track):
            return []
        return [TrackEvent(root, "epic-end", track.name, label) for label in sorted(now - before)]

    def _watch(self, root: str) -> None:
        """Watch where tracks come, and those being worked on or made: one shallow watch each."""
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
    """Return the tracks that have a plan too: until then their maker is not done with them."""
    return [track for track in tracks_of(root) if os.path.isfile(os.path.join(track.directory, "plan.md"))]


def _unfinished(root: str) -> list[str]:
    try:
        with os.scandir(tracks_directory(root)) as entries:
            return [
                entry.path
                for entry in entries
                if entry.is_dir(follow_symlinks=False)
                and not os.path.isfile(os.path.join(entry.path, "plan.md"))
            ]
    except OSError:
        return []


def _told_by_beads(track: Track) -> bool:
    """Say whether Beads' export tells of this track's epics, so that the plan need not."""
    if not os.path.isfile(os.path.join(track.project, ".beads", EXPORT)):
        return False
    try:
        return bool(track.metadata().epic)
    except HandoffError:
        return False
