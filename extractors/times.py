"""Timestamps as the client writes them, and as seconds since the epoch."""

from datetime import UTC, datetime


def seconds(timestamp: str | None) -> float:
    """Return *timestamp* (ISO 8601) as seconds since the epoch, 0.0 when it cannot be read."""
    if not timestamp:
        return 0.0
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
