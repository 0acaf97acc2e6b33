"""What the conductor track being worked on says about its Beads epic and its last handoff."""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flowd.handoff.errors import BrokenHandoffError
from flowd.handoff.small_file import read_whole

_ACTIVE = frozenset({"in_progress", "new", "planned"})
_LARGEST = 1_000_000


class TrackBeads(NamedTuple):
    """The latest active track: its epic, and the last handoff written for it."""

    track: str
    epic: str = ""
    section: int = 0
    handoff_file: str = ""
    tasks_completed: int = 0
    tasks_total: int = 0
    phase: str = ""


def track_beads(project: str) -> TrackBeads | None:
    """Return what the most recently changed active track of *project* says, None where there is none."""
    tracks = Path(project, "conductor", "tracks")
    found = sorted(_metadata_files(tracks), key=_modified_at, reverse=True)
    for file in found:
        metadata = _mapping(file)
        if metadata.get("status") in _ACTIVE:
            return _track(file.parent.name, metadata)
    return None


def beads_disabled(project: str) -> bool:
    """Say whether the project's own conductor/beads.json turns Beads off."""
    return _mapping(Path(project, "conductor", "beads.json")).get("enabled") is False


def _metadata_files(tracks: Path) -> list[Path]:
    try:
        return [file for file in tracks.glob("*/metadata.json") if not file.is_symlink()]
    except OSError:
        return []


def _modified_at(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _track(name: str, metadata: dict[str, Any]) -> TrackBeads:
    handoff = _dict(metadata.get("handoff"))
    history = handoff.get("history")
    last = _dict(history[-1]) if isinstance(history, list) and history else {}
    epic = _dict(metadata.get("beads")).get("epicId") or metadata.get("beads_epic")
    return TrackBeads(
        track=name,
        epic=_text(epic),
        section=_number(last.get("section")),
        handoff_file=_text(last.get("file")),
        tasks_completed=_number(last.get("tasks_completed")),
        tasks_total=_number(last.get("tasks_total")),
        phase=_text(last.get("phase_at_handoff")),
    )


def _mapping(file: Path) -> dict[str, Any]:
    """Return the JSON object in *file*, an empty one where there is none that can be read."""
    try:
        return _dict(msgspec.json.decode(read_whole(str(file), _LARGEST)))
    except (OSError, BrokenHandoffError, msgspec.DecodeError):
        return {}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
