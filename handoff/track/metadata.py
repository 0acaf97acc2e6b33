"""A track's metadata.json: flowd changes its ``handoff`` section and nothing else."""

import json
import math
import os
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from flowd.handoff.errors import BrokenHandoffError
from flowd.handoff.track.files import read_track_file, replace_track_file, track_lock

METADATA = "metadata.json"
TrackTrigger = Literal["design-end", "epic-start", "epic-end", "pre-finish", "manual", "idle"]
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_INDENT = re.compile(r'\n([ \t]+)"')
Count = Annotated[int, msgspec.Meta(ge=0)]


class HistoryEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One handoff of the track."""

    section: Annotated[int, msgspec.Meta(ge=1)]
    timestamp: str
    trigger: TrackTrigger
    bead_id: str | None = None
    phase_at_handoff: str | None = None
    tasks_completed: Count | msgspec.UnsetType = msgspec.UNSET
    tasks_total: Count | msgspec.UnsetType = msgspec.UNSET
    file: str | msgspec.UnsetType = msgspec.UNSET

    @property
    def moment(self) -> tuple[str, str, str | None]:
        """What identifies the entry."""
        return self.timestamp, self.trigger, self.bead_id


class HandoffSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ``handoff`` section; its defaults are those of a track that was never handed off."""

    status: Literal["active", "handed_off"] = "active"
    section_count: Count = 0
    progress_percent: Annotated[int, msgspec.Meta(ge=0, le=100)] = 0
    last_handoff: str | None = None
    history: tuple[HistoryEntry, ...] = ()


class Gates(NamedTuple):
    """The validation gates of the track."""

    passed: tuple[str, ...] = ()
    current: str = ""


class Metadata(NamedTuple):
    """The fields of metadata.json that flowd reads."""

    status: str
    epic: str
    gates: Gates
    handoff: HandoffSection


NO_METADATA = Metadata("", "", Gates(), HandoffSection())


def read_metadata(project: str, track_directory: str) -> Metadata:
    """Parse the track's metadata.json; raise HandoffError if that is not possible."""
    path = os.path.join(track_directory, METADATA)
    return _metadata(_parsed(path, read_track_file(project, path)))


def add_to_history(project: str, track_directory: str, entry: HistoryEntry, progress_percent: int) -> int:
    """Record *entry* as the track's next section and return its number; a known one stays as it is."""

    def added(section: HandoffSection) -> HandoffSection:
        known = known_section(section, entry)
        if known:
            return section
        number = section.section_count + 1
        return HandoffSection(
            status="handed_off",
            section_count=number,
            progress_percent=progress_percent,
            last_handoff=entry.timestamp,
            history=(*section.history, msgspec.structs.replace(entry, section=number)),
        )

    section = _change(project, track_directory, added)
    return known_section(section, entry)


def known_section(section: HandoffSection, entry: HistoryEntry) -> int:
    """Return the number under which *entry* is recorded already, 0 if it is not."""
    same = (known.section for known in section.history if known.moment == entry.moment)
    return next(same, 0)


def set_active(project: str, track_directory: str, progress_percent: int) -> None:
    """Record that work on the track was resumed."""
    _change(
        project,
        track_directory,
        lambda section: msgspec.structs.replace(section, status="active", progress_percent=progress_percent),
    )


def _change(
    project: str, track_directory: str, change: Callable[[HandoffSection], HandoffSection]
) -> HandoffSection:
    path = os.path.join(track_directory, METADATA)
    with track_lock(project, track_directory):
        text = read_track_file(project, path)
        whole = _parsed(path, text)
        before = _section(whole)
        after = change(before)
        if after != before or "handoff" not in whole:
            replace_track_file(project, path, _with_section(text or "", msgspec.to_builtins(after)))
    return after


def _with_section(text: str, section: dict[str, Any]) -> str:
    """Return the JSON *text* with *section* as its handoff section; no other character changes."""
    at = _place_of_section(text)
    line = text[text.rfind("\n", 0, at.start) + 1 : at.start]
    base = line[: len(line) - len(line.lstrip())]
    unit = _INDENT.search(text)
    dumped = json.dumps(section, indent=unit[1] if unit else None, ensure_ascii=text.isascii())
    if at.is_present:
        return text[: at.start] + dumped.replace("\n", f"\n{base}") + text[at.end :]
    comma = "" if at.is_first else ","
    gap = f"\n{unit[1]}" if unit else " " * (not at.is_first)
    dumped = dumped.replace("\n", f"\n{unit[1]}") if unit else dumped
    return f'{text[: at.end]}{comma}{gap}"handoff": {dumped}{text[at.end :]}'


class _Place(NamedTuple):
    start: int
    end: int
    is_present: bool
    is_first: bool


def _place_of_section(text: str) -> _Place:
    """Return where the value of the handoff section is, without one where it is to be added."""
    position = end = text.index("{") + 1
    found: _Place | None = None
    is_first = True
    while text[position := _SPACE.match(text, position).end()] != "}":  # type: ignore[union-attr]  # it matches nothing, too
        if text[position] == ",":
            position = _SPACE.match(text, position + 1).end()  # type: ignore[union-attr]
        key, position = _DECODER.raw_decode(text, position)
        position = _SPACE.match(text, text.index(":", position) + 1).end()  # type: ignore[union-attr]
        _, end = _DECODER.raw_decode(text, position)
        if key == "handoff":
            found = _Place(position, end, is_present=True, is_first=False)
        position, is_first = end, False
    return found or _Place(end, end, is_present=False, is_first=is_first)


def _parsed(path: str, text: str | None) -> dict[str, Any]:
    if text is None:
        raise BrokenHandoffError(f"{path} is missing")
    try:
        value = json.loads(text, parse_constant=_refused, parse_float=_kept_float)
    except (ValueError, RecursionError) as error:
        raise BrokenHandoffError(f"{path} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BrokenHandoffError(f"{path} is not an object")
    return value


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _kept_float(digits: str) -> float:
    """Return the number, or raise where writing it again would change what it means."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is too large to be kept")
    return number


def _metadata(whole: dict[str, Any]) -> Metadata:
    beads, validation = _dict(whole.get("beads")), _dict(whole.get("validation"))
    passed = validation.get("gates_passed")
    return Metadata(
        status=_text(whole.get("status")),
        epic=_first_text(beads, "epicId", "epic_id", "epic")
        or _first_text(whole, "beads_epic", "beadsEpic", "epicId", "epic_id"),
        gates=Gates(
            tuple(gate for gate in passed if isinstance(gate, str)) if isinstance(passed, list) else (),
            _text(validation.get("current_gate")),
        ),
        handoff=_section(whole),
    )


def _section(whole: dict[str, Any]) -> HandoffSection:
    """Return the handoff section; raise if it has fields that flowd does not know, and would lose."""
    try:
        return msgspec.convert(whole.get("handoff") or {}, HandoffSection)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise BrokenHandoffError(f"metadata.json: handoff: {error}", hint="correct it by hand") from error


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _first_text(fields: dict[str, Any], *names: str) -> str:
    return next((text for name in names if (text := _text(fields.get(name)))), "")
