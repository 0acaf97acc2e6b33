"""The conductor's tracks of a project: which there are, and which one is being worked on."""

# ruff: noqa: PTH112, PTH113, PTH114 - os.path answers False where Path raises

import os
from typing import NamedTuple

from flowd.handoff.errors import HandoffError
from flowd.handoff.track_files import read_track_file
from flowd.handoff.track_metadata import METADATA, Metadata, read_metadata
from flowd.handoff.track_plan import Plan, read_plan

CONDUCTOR = "conductor"
TRACKS = "tracks"
HANDOFFS = "handoffs"
GENERAL = "general"
ACTIVE = frozenset({"in_progress", "new", "planned"})
MOST_TRACKS = 1000


class Track(NamedTuple):
    """One track, or the project's general place when no track is being worked on."""

    project: str
    name: str

    @property
    def is_general(self) -> bool:
        """Whether it stands for work outside any track."""
        return not os.path.isfile(os.path.join(self.directory, METADATA))

    @property
    def directory(self) -> str:
        """Where metadata.json and plan.md are."""
        return os.path.join(tracks_directory(self.project), self.name)

    @property
    def handoffs(self) -> str:
        """Where its handoffs are written."""
        return os.path.join(self.project, CONDUCTOR, HANDOFFS, self.name)

    def metadata(self) -> Metadata:
        """Return what metadata.json says, or raise where it cannot be taken."""
        return read_metadata(self.project, self.directory)

    def plan(self) -> Plan:
        """Return what plan.md says; an empty plan where there is none to read."""
        try:
            text = read_track_file(self.project, os.path.join(self.directory, "plan.md"))
        except HandoffError:
            return Plan()
        return read_plan(text or "")


def has_conductor(project: str) -> bool:
    """Say whether *project* has a ``conductor`` directory of its own."""
    folder = os.path.join(project, CONDUCTOR)
    return os.path.isdir(folder) and not os.path.islink(folder)


def tracks_directory(project: str) -> str:
    """Return where the tracks of *project* are."""
    return os.path.join(project, CONDUCTOR, TRACKS)


def tracks_of(project: str) -> list[Track]:
    """Return the tracks of *project* that have a metadata.json, the most recently modified first."""
    found = []
    for name in _names(tracks_directory(project)):
        track = Track(project, name)
        try:
            modified = os.stat(os.path.join(track.directory, METADATA)).st_mtime_ns
        except OSError:
            continue
        if not os.path.islink(track.directory):
            found.append((-modified, track))
    return [track for _, track in sorted(found)]


def named_track(project: str, name: str) -> Track | None:
    """Return the track called *name*, if there is one."""
    return next((track for track in tracks_of(project) if track.name == name), None)


def choose_track(project: str, bound: str = "") -> Track:
    """Return the track *bound* to the session, else the latest active one, else the general place."""
    tracks = tracks_of(project)
    for track in tracks:
        if bound and track.name == bound:
            return track
    for track in tracks:
        if _is_active(track):
            return track
    return Track(project, GENERAL)


def _is_active(track: Track) -> bool:
    try:
        return track.metadata().status in ACTIVE
    except HandoffError:
        return False


def _names(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [name for name in names if not name.startswith(".") and name.isprintable()][:MOST_TRACKS]
