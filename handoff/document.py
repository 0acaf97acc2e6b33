"""The handoff as a value: its fields, what makes it valid, and how an update is merged into it."""

from collections.abc import Mapping

from flowd.handoff.errors import HandoffValidationError
from flowd.handoff.plain import plain_mapping
from flowd.handoff.timestamps import as_utc_text, utc_now

STATUSES = ("blocked", "completed", "in_progress")
REQUIRED = ("goal", "status", "now")
DEFAULT_GOAL = "Working on project"
DEFAULT_STATUS = "in_progress"

Handoff = dict[str, object]


def validated(data: Mapping[str, object]) -> Handoff:
    """Return *data* as a valid, plain handoff with a UTC timestamp, or raise naming the field."""
    handoff = plain_mapping(data)
    for field in ("goal", "now"):
        _require_words(handoff, field)
    _require_status(handoff)
    handoff["timestamp"] = _moment(data.get("timestamp"))
    return handoff


def updated(present: Mapping[str, object] | None, updates: Mapping[str, object]) -> Handoff:
    """Return *present* with *updates* laid over it, required fields filled, and the timestamp of now."""
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


def is_absent(value: object) -> bool:
    """Tell whether a required field's *value* says nothing: null, empty or blank."""
    return value is None or (isinstance(value, str) and not value.strip())


def same_but_for_time(one: Mapping[str, object] | None, other: Mapping[str, object] | None) -> bool:
    """Tell whether two handoffs agree in every field, and its order, other than the timestamp."""
    return _timeless(one) == _timeless(other)


def _timeless(data: Mapping[str, object] | None) -> list[tuple[str, object]] | None:
    return None if data is None else [item for item in data.items() if item[0] != "timestamp"]


def _require_words(handoff: Handoff, field: str) -> None:
    value = handoff.get(field)
    if not isinstance(value, str) or is_absent(value):
        raise HandoffValidationError(
            f"Missing or empty required field: {field}", hint=f"give {field} a few words"
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
