"""A status as a healthy daemon answers it, for tests that change some of its fields."""

import time
from typing import Any

import msgspec

from flowd.cli.flowd.status_page import Running


def running_status(**changes: Any) -> Running:
    """Return the status of a healthy daemon with these fields changed."""
    answer: dict[str, Any] = {
        "schema_version": 1,
        "running": True,
        "healthy": True,
        "reasons": [],
        "pid": 4_194_304,
        "version": "0.1.0",
        "cli_version": "0.1.0",
        "started_at": time.time() - 86_400 * 100,
        "uptime_s": 86_400.0 * 100,
        "last_progress_at": time.time() - 86_400 * 100,
        "catching_up": False,
        "waiting_files": 0,
        "reconcile_s": 60.0,
        "sessions": [session_line()],
        "sessions_tracked": 1,
        "extractions_count": 1,
        "sinks": [sink_line()],
        "parts": [],
        "counts": _counts(),
        "watches": {"held": 1, "asked": 1, "polled": 0},
        "process": {"rss_bytes": 30_000_000, "open_files": 12, "threads": 9, "children": 0, "cpu_s": 1.0},
        "store": {"path": "/core.db", "size_bytes": 1_000_000, "condition": ""},
        "settings_error": "",
        "threads_active": 0,
        "threads_unread": {},
        "escalations": [],
        "failures": [],
    }
    return msgspec.convert(answer | changes, Running)


def session_line(**changes: Any) -> dict[str, Any]:
    """Return one session of a status."""
    return {
        "session_id": "0123456789abcdef",
        "title": "",
        "phase": "active",
        "last_activity_at": time.time() - 5,
        "last_progress_at": time.time() - 5,
        "lag_bytes": 0,
        "records": 1,
        "project": "/srv/project",
    } | changes


def sink_line(**changes: Any) -> dict[str, Any]:
    """Return one sink of a status."""
    numbers = {"cursor": 10, "queue": 0, "delivered": 10, "retrying": 0, "quarantined": 0}
    times = {"last_success_at": time.time(), "last_error_at": 0.0}
    return {"name": "core_db", "last_error": "", "detail": "", **numbers, **times} | changes


def _counts(**changes: Any) -> dict[str, Any]:
    numbers = {"captured": 1, "stored": 2, "delivered": 2, "transcripts": 3, "lines": 4, "bytes": 4}
    return {**numbers, "troubles": {}, "unknown_types": {}} | changes
