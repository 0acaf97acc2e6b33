"""Moments as handoffs write them: ISO 8601 text in UTC."""

import re
from datetime import UTC, date, datetime

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def utc_now() -> str:
    """Return this moment as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat()


def is_moment(text: str) -> bool:
    """Tell whether *text* is a moment as handoffs write them, and nothing else."""
    return _MOMENT.fullmatch(text) is not None


def as_utc_text(moment: object) -> str | None:
    """Return *moment* (datetime, date or ISO text; naive means local time) in UTC, or None if it is none."""
    if isinstance(moment, str):
        moment = _parsed(moment)
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if not isinstance(moment, datetime):
        return None
    return _in_utc(moment)


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None


def _in_utc(moment: datetime) -> str | None:
    try:
        return moment.astimezone(UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        # The first and last years a datetime can hold have no neighbour in another zone.
        return None


def to_seconds(moment: object) -> float:
    """Return *moment* as seconds since the epoch, 0.0 when it is none."""
    text = as_utc_text(moment)
    return datetime.fromisoformat(text).timestamp() if text else 0.0
