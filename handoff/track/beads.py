"""The Beads epic and the last handoff of the conductor track being worked on, read from its files."""

import os
from typing import NamedTuple

import msgspec

from flowd.handoff.track.metadata import NO_METADATA, HistoryEntry
from flowd.handoff.track.tracks import CONDUCTOR, read_chosen_track
from flowd.system.files import READ_FLAGS, UnreadableFileError, read_capped, read_whole
from flowd.system.times import to_seconds

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
    last_handoff: str = ""


class _TrackBeadsFile(msgspec.Struct, frozen=True):
    enabled: bool = True


def track_beads(project: str, bound: str = "") -> TrackBeads | None:
    """Read the track *bound* to the session, else the latest active one; None without one."""
    track, metadata = read_chosen_track(project, bound)
    if track.is_general:
        return None
    plan, metadata = track.plan(), metadata or NO_METADATA
    history = metadata.handoff.history
    return TrackBeads(
        track=track.name,
        epic=metadata.epic,
        section=history[-1].section if history else 0,
        handoff_file=_file(history[-1]) if history else "",
        tasks_completed=plan.done,
        tasks_total=plan.total,
        phase=plan.current.title if plan.current else "",
        last_handoff=metadata.handoff.last_handoff or "",
    )


def beads_disabled(project: str) -> bool:
    """Return True if the project's conductor/beads.json disables Beads."""
    try:
        text = read_whole(os.path.join(project, CONDUCTOR, "beads.json"), _LARGEST)
        return not msgspec.json.decode(text, type=_TrackBeadsFile).enabled
    except (OSError, ValueError):  # missing or unreadable
        return False


def _file(entry: HistoryEntry) -> str:
    return entry.file if isinstance(entry.file, str) else ""


EXPORT = "issues.jsonl"
MAX_EXPORT = 32 << 20


class _Dependency(msgspec.Struct, frozen=True):
    depends_on_id: str = ""
    type: str = ""


class _Issue(msgspec.Struct, frozen=True):
    id: str
    status: str = ""
    issue_type: str = ""
    closed_at: str = ""
    dependencies: tuple[_Dependency, ...] = ()


_decode = msgspec.json.Decoder(_Issue).decode


def closed_epics(beads_directory: str, epic: str, since: float) -> list[str]:
    """Return *epic* and the epics below it that were closed after *since*, in the order of the export."""
    found = (_closed_epic(line) for line in _lines(os.path.join(beads_directory, EXPORT)))
    return [
        issue.id
        for issue in found
        if issue is not None and _belongs(issue, epic) and to_seconds(issue.closed_at) > since
    ]


def exports_epics_below(beads_directory: str, epic: str) -> bool:
    """Return True if the export has an epic below *epic*, open or closed."""
    for line in _lines(os.path.join(beads_directory, EXPORT)):
        issue = _epic(line) if b'"epic"' in line else None
        if issue is not None and issue.id != epic and _belongs(issue, epic):
            return True
    return False


def _epic(line: bytes) -> _Issue | None:
    try:
        issue = _decode(line)
    except msgspec.DecodeError:
        return None
    return issue if issue.issue_type == "epic" else None


def _closed_epic(line: bytes) -> _Issue | None:
    if b'"closed"' not in line:
        return None
    issue = _epic(line)
    return issue if issue is not None and issue.status == "closed" else None


def _belongs(issue: _Issue, epic: str) -> bool:
    parents = (link.depends_on_id for link in issue.dependencies if link.type == "parent-child")
    return issue.id == epic or issue.id.startswith(epic + ".") or epic in parents


def _lines(path: str) -> list[bytes]:
    try:
        descriptor = os.open(path, READ_FLAGS | os.O_NOFOLLOW)
    except OSError:
        return []
    try:
        return read_capped(descriptor, MAX_EXPORT).split(b"\n")
    except (OSError, UnreadableFileError):
        return []
    finally:
        os.close(descriptor)
