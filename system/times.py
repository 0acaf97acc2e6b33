"""Points in time: ISO 8601 text in UTC, seconds since the epoch, and ages in words."""

import re
import time
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


def age(moment: float) -> str:
    """Return how long ago *moment* was: ``just now``, ``5 minutes ago``, ``3 days ago``."""
    if not moment:
        return "at an unknown time"
    gap = max(0.0, time.time() - moment)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if gap >= size:
            count = int(gap // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def seconds(timestamp: str | None) -> float:
    """Return *timestamp* (ISO 8601) as seconds since the epoch, 0.0 when it cannot be read."""
    if not timestamp:
        return 0.0
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
