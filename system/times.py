"""Points in time: ISO 8601 text, seconds since the epoch, ages in words. A time without a zone is UTC."""

import re
import time
from datetime import UTC, date, datetime

# The end of the year 9999, the last that a datetime can hold.
MAX_TIME = 253_402_300_799.0
_UTC_TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def parse_time(value: object) -> datetime | None:
    """Return *value* (ISO 8601 text, datetime, date) as a datetime with a zone, None if it is not a time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def to_seconds(value: object) -> float:
    """Return *value* as seconds since the epoch, 0.0 if it is not a time."""
    moment = parse_time(value)
    return moment.timestamp() if moment else 0.0


seconds = to_seconds


def as_utc_text(value: object) -> str | None:
    """Return *value* as ISO 8601 text in UTC, None if it is not a time."""
    moment = parse_time(value)
    try:
        return moment.astimezone(UTC).isoformat() if moment else None
    except OverflowError:  # in the first and the last year, another zone may be out of range
        return None


def is_moment(text: str) -> bool:
    """Return True if *text* is a date, a time and a zone in ISO 8601, and nothing else."""
    return _UTC_TEXT.fullmatch(text) is not None


def utc_now() -> str:
    """Return the current time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat()


def iso_millis(at: float) -> str:
    """Return *at* as ISO 8601 text in UTC with milliseconds and ``Z``: later times sort later."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_seconds(at: float) -> str:
    """Return *at* as ISO 8601 text in UTC with whole seconds and ``Z``."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def local_minute(at: float) -> str:
    """Return *at* in the person's time zone, as in ``2026-03-01 10:00``."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M")


def age(at: float) -> str:
    """Return how long ago *at* was: ``just now``, ``5 minutes ago``, ``3 days ago``."""
    if not at:
        return "at an unknown time"
    gap = max(0.0, time.time() - at)
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if gap >= size:
            count = int(gap // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
