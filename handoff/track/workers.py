"""Parallel workers of a track, from its state files in any of three formats."""

import os
import time
from typing import Any, NamedTuple

import msgspec

from flowd.handoff.errors import HandoffError
from flowd.handoff.track.files import read_track_file
from flowd.redaction.redactor import redact
from flowd.system.text import one_line
from flowd.system.times import to_seconds

STATE_FILES = ("parallel_state.json", "implement_parallel_state.json")
SILENT_AFTER_S = 3600.0
_AT_WORK = frozenset({"running", "in_progress"})
_DONE = frozenset({"completed", "done"})
_NAME_CHARACTERS = 80
_MAX_WORKERS = 100


class Worker(NamedTuple):
    """One worker: its name, its status and its task."""

    name: str
    status: str
    task: str = ""


class Workers(NamedTuple):
    """All workers of a track; ``warnings`` name what could not be read."""

    workers: tuple[Worker, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def running(self) -> tuple[str, ...]:
        """The names of those still at work."""
        return tuple(worker.name for worker in self.workers if worker.status == "running")

    @property
    def summary(self) -> str:
        """How many there are, are completed and at work; empty where there are none."""
        if not self.workers:
            return ""
        completed = sum(worker.status == "completed" for worker in self.workers)
        return f"{len(self.workers)} workers, {completed} completed, {len(self.running)} in progress"

    @property
    def descriptions(self) -> tuple[str, ...]:
        """One short description per worker: name, status, task."""
        return tuple(
            f"{worker.name} {worker.status}{f' ({worker.task})' if worker.task else ''}"
            for worker in self.workers
        )


def read_workers(project: str, track_directory: str, now: float | None = None) -> Workers:
    """Return the workers in the track's state files."""
    found, warnings = [], []
    for name in STATE_FILES:
        path = os.path.join(track_directory, name)
        try:
            text = read_track_file(project, path)
            if text is not None:
                found += _workers(msgspec.json.decode(text), _age_s(path, now))
        except (HandoffError, msgspec.DecodeError, TypeError) as error:
            warnings.append(f"{name} is ignored: {error}")
    return Workers(tuple(found[:_MAX_WORKERS]), tuple(warnings))


def _workers(state: Any, silent_s: float) -> list[Worker]:
    if not isinstance(state, dict):
        raise TypeError("an object is expected")
    listed = state.get("workers", state.get("agents", []))
    if isinstance(listed, dict):
        listed = [{"name": name, **entry} for name, entry in listed.items() if isinstance(entry, dict)]
    if not isinstance(listed, list):
        raise TypeError("a list of workers is expected")
    return [_worker(entry, silent_s) for entry in listed if isinstance(entry, dict)]


def _worker(entry: dict[str, Any], silent_s: float) -> Worker:
    name = entry.get("name") or entry.get("worker_id") or "unnamed"
    status = str(entry.get("status") or "unknown")
    if status in _AT_WORK:
        status = "timed_out" if _is_silent(entry, silent_s) else "running"
    elif status in _DONE:
        status = "completed"
    return Worker(_short(name), _short(status), _short(entry.get("task") or entry.get("task_id") or ""))


def _is_silent(entry: dict[str, Any], silent_s: float) -> bool:
    """Return True if the state file is an hour old and the worker did not start since."""
    began = to_seconds(entry.get("started_at"))
    return silent_s > SILENT_AFTER_S and not (began and time.time() - began <= SILENT_AFTER_S)


def _age_s(path: str, now: float | None) -> float:
    try:
        return (now or time.time()) - os.lstat(path).st_mtime
    except OSError:
        return 0.0


def _short(value: object) -> str:
    return redact(one_line(str(value)))[:_NAME_CHARACTERS]
