"""What the conductor track being worked on says about its Beads epic and its last handoff."""

import os
from typing import NamedTuple

import msgspec

from flowd.handoff.errors import HandoffError
from flowd.handoff.small_file import read_whole
from flowd.handoff.track import CONDUCTOR, choose_track
from flowd.handoff.track_metadata import HistoryEntry

_LARGEST = 100_000


class TrackBeads(NamedTuple):
    """The latest active track: its epic, its progress, and the last handoff written for it."""

    track: str
    epic: str = ""
    section: int = 0
    handoff_file: str = ""
    tasks_completed: int = 0
    tasks_total: int = 0
    phase: str = ""


class _BeadsSettings(msgspec.Struct, frozen=True):
    enabled: bool = True


def track_beads(project: str, bound: str = "") -> TrackBeads | None:
    """Return what the track *bound* to the session says, else the latest active one; None without one."""
    track = choose_track(project, bound)
    if track.is_general:
        return None
    try:
        metadata = track.metadata()
    except HandoffError:
        return None
    plan = track.plan()
    history = metadata.handoff.history
    return TrackBeads(
        track=track.name,
        epic=metadata.epic,
        section=history[-1].section if history else 0,
        handoff_file=_file(history[-1]) if history else "",
        tasks_completed=plan.done,
        tasks_total=plan.total,
        phase=plan.current.title if plan.current else "",
    )


def beads_disabled(project: str) -> bool:
    """Say whether the project's own conductor/beads.json turns Beads off."""
    try:
        text = read_whole(os.path.join(project, CONDUCTOR, "beads.json"), _LARGEST)
        return not msgspec.json.decode(text, type=_BeadsSettings).enabled
    except (OSError, ValueError):  # there is none, or it says nothing
        return False


def _file(entry: HistoryEntry) -> str:
    return entry.file if isinstance(entry.file, str) else ""
