"""The values of ``flowd status``, documented by docs/status.schema.json."""

import os
import resource
import sys
from typing import Literal

import msgspec

from flowd.model.session import SessionPhase
from flowd.model.summary import ModelStatus

SCHEMA_VERSION = 1


class SessionLine(msgspec.Struct, frozen=True, kw_only=True):
    """One session: project, phase, and how far flowd is behind its transcript."""

    session_id: str
    project: str
    title: str
    phase: SessionPhase
    last_activity_at: float
    last_progress_at: float
    lag_bytes: int
    records: int


class SinkLine(msgspec.Struct, frozen=True, kw_only=True):
    """One sink: deliveries, queue and failures."""

    name: str
    cursor: int
    queue: int
    delivered: int
    retrying: int
    quarantined: int
    last_success_at: float
    last_error: str
    last_error_at: float
    detail: str


class ThreadLine(msgspec.Struct, frozen=True, kw_only=True):
    """One thread of the daemon."""

    name: str
    state: Literal["running", "restarting", "failed"]
    deaths: int
    last_error: str
    silent_s: float


class FailureLine(msgspec.Struct, frozen=True, kw_only=True):
    """One file that could not be processed: what went wrong, since when, and how many times it was tried."""

    path: str
    error: str
    since: float
    times: int


class RecordCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Totals: records read from transcripts, facts stored, deliveries made."""

    captured: int
    stored: int
    delivered: int
    transcripts: int
    lines: int
    bytes: int
    troubles: dict[str, int]
    unknown_types: dict[str, int]


class WatchStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Directories to watch, watched, and polled instead."""

    asked: int
    held: int
    polled: int


class ProcessStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Resources of the daemon's process."""

    rss_bytes: int
    open_files: int
    threads: int
    children: int
    cpu_s: float


class StoreStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of core.db; ``condition`` is empty while it is usable."""

    path: str
    size_bytes: int
    condition: str


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The whole answer to ``status``."""

    schema_version: int
    running: bool
    healthy: bool
    reasons: list[str]
    pid: int
    version: str
    started_at: float
    uptime_s: float
    last_progress_at: float
    catching_up: bool
    waiting_files: int
    reconcile_s: float
    sessions_tracked: int
    extractions_count: int
    sessions: list[SessionLine]
    sinks: list[SinkLine]
    parts: list[ThreadLine]
    counts: RecordCounts
    watches: WatchStatus
    store: StoreStatus
    process: ProcessStatus
    settings_error: str
    threads_active: int
    threads_unread: dict[str, int]
    escalations: list[str]
    model: ModelStatus = ModelStatus()
    failures: list[FailureLine]


def measure_process(children: int, threads: int) -> ProcessStatus:
    """Return the resources that this process uses now."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return ProcessStatus(
        rss_bytes=_rss_bytes(usage.ru_maxrss),
        open_files=_open_files(),
        threads=threads,
        children=children,
        cpu_s=round(usage.ru_utime + usage.ru_stime, 3),
    )


def _rss_bytes(highest_kb: int) -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # macOS has no such file; it reports the peak, in bytes
        return highest_kb if sys.platform == "darwin" else highest_kb * 1024


def _open_files() -> int:
    for directory in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(directory)) - 1
        except OSError:
            continue
    return -1
