"""The fields of a handoff file: validation, defaults, order, and merging of updates."""

import os
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from flowd.handoff.errors import HandoffValidationError
from flowd.system.times import as_utc_text, utc_now

STATUSES = ("blocked", "completed", "in_progress")
REQUIRED = ("goal", "status", "now")
# The fields in the order of the specification's schema.
SCHEMA = ("goal", "status", "now", "hypothesis", "outcome", "files", "branch", "timestamp", "session_id")
DEFAULT_GOAL = "Working on project"
DEFAULT_STATUS = "in_progress"
DEFAULT_NOW_IN_SESSION = "Session in progress"

Handoff = dict[str, object]


def validated(data: Mapping[str, object]) -> Handoff:
    """Return *data* as a valid, plain handoff with a UTC timestamp; raise naming a wrong field."""
    _require_mapping(data)
    handoff = plain_mapping(data)
    for field in ("goal", "now"):
        _require_words(handoff, field)
    _require_status(handoff)
    handoff["timestamp"] = _moment(data.get("timestamp"))
    return handoff


def updated(present: Mapping[str, object] | None, updates: Mapping[str, object]) -> Handoff:
    """Merge *updates* into *present*, fill required fields and set the timestamp to now."""
    _require_mapping(updates)
    changes = {key: value for key, value in updates.items() if not (key in REQUIRED and is_absent(value))}
    merged = {**(present or {}), **changes}
    return validated({**with_defaults(merged), "timestamp": utc_now()})


def with_defaults(data: Mapping[str, object]) -> Handoff:
    """Return *data* with every absent required field filled, existing keys keeping their place."""
    goal = DEFAULT_GOAL if is_absent(data.get("goal")) else data["goal"]
    defaults = {"goal": goal, "status": DEFAULT_STATUS, "now": goal}
    fillings = {key: value for key, value in defaults.items() if is_absent(data.get(key))}
    missing = {key: value for key, value in fillings.items() if key not in data}
    return {**missing, **data, **fillings}


def in_file_order(data: Mapping[str, object], present: Mapping[str, object] | None) -> Handoff:
    """Return *data* in the order of *present*; new keys where the schema has them, others last."""
    names = list(present or ())
    for position, name in enumerate(SCHEMA):
        if name not in names:
            before = [names.index(other) for other in SCHEMA[:position] if other in names]
            names.insert(max(before, default=-1) + 1, name)
    return {name: data[name] for name in dict.fromkeys((*names, *data)) if name in data}


def default_fields(root: str | os.PathLike[str], *, in_session: bool) -> dict[str, str]:
    """Return the required fields of a handoff for which nothing is known but its project."""
    goal = f"Working on {os.path.basename(root)}"
    now = DEFAULT_NOW_IN_SESSION if in_session else DEFAULT_GOAL
    return {"goal": goal, "status": DEFAULT_STATUS, "now": now}


def is_absent(value: object) -> bool:
    """Return True if a required field's *value* is null, empty or blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def same_but_for_time(one: Mapping[str, object] | None, other: Mapping[str, object] | None) -> bool:
    """Return True if two handoffs differ at most in the timestamp; the order of fields counts."""
    return _timeless(one) == _timeless(other)


def _timeless(data: Mapping[str, object] | None) -> list[tuple[str, object]] | None:
    return None if data is None else [item for item in data.items() if item[0] != "timestamp"]


def _require_mapping(data: object) -> None:
    if not isinstance(data, Mapping):
        raise HandoffValidationError(f"A handoff is a mapping of fields, not a {type(data).__name__}")


def _require_words(handoff: Handoff, field: str) -> None:
    value = handoff.get(field)
    if not isinstance(value, str) or is_absent(value):
        raise HandoffValidationError(
            f"Missing or empty required field: {field}", hint=f"set {field} to a short text"
        )


def _require_status(handoff: Handoff) -> None:
    status = handoff.get("status")
    if is_absent(status):
        raise HandoffValidationError("Missing required field: status", hint=f"one of {', '.join(STATUSES)}")
    if status not in STATUSES:
        raise HandoffValidationError(f"Invalid status '{status}'. Must be one of: {', '.join(STATUSES)}")


def _moment(given: object) -> str:
    if is_absent(given):
        return utc_now()
    text = as_utc_text(given)
    if text is None:
        raise HandoffValidationError(f"Invalid timestamp '{given}'", hint="use ISO 8601, or leave it out")
    return text


MAX_DEPTH = 32
MAX_VALUES = 20_000
_SCALARS = frozenset({type(None), bool, int, float})


def plain_mapping(data: Mapping[Any, object]) -> dict[str, object]:
    """Return a deep copy of *data* made of plain values only; raise on anything else, cycles included."""
    budget = [MAX_VALUES]
    return {_key(key): _plain(value, str(key), MAX_DEPTH, budget) for key, value in data.items()}


def copied(value: Any) -> Any:
    """Return a deep copy of *value*, which is plain already."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def is_same(one: object, other: object) -> bool:
    """Return True if two plain values are the same by a quick comparison; ``1`` and ``True`` are not."""
    if type(one) is not type(other) or one != other:
        return False
    return not isinstance(one, dict) and (not isinstance(one, list) or _are_texts(one))


def _are_texts(items: list[object]) -> bool:
    return all(type(item) is str for item in items)


def _plain(value: object, field: str, depth: int, budget: list[int]) -> object:
    budget[0] -= 1
    if depth < 0 or budget[0] < 0:
        raise HandoffValidationError(f"Too deep or too many values in field: {field}")
    if isinstance(value, str):
        return whole_text(value)
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, field, depth - 1, budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, field, depth - 1, budget) for item in value]
    return _text_of(value, field)


def whole_text(text: str) -> str:
    """Return *text* with halves of surrogate pairs joined or replaced, so that it can be encoded."""
    if text.isascii():
        return str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)


def _text_of(value: object, field: str) -> str:
    if isinstance(value, datetime):
        return as_utc_text(value) or value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return whole_text(os.fsdecode(value))
    raise HandoffValidationError(f"Cannot write a {type(value).__name__} in field: {field}")


def _key(key: object) -> str:
    return whole_text(key if isinstance(key, str) else str(key))
