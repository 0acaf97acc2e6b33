"""Parallel workers: every dialect is understood, silence is a time-out, rubbish is a warning."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from flowd.handoff.track.workers import Workers, read_workers

CONDUCTOR_BEADS = {
    "phase": 1,
    "workers": [
        {"worker_id": "worker-1", "task": "api", "status": "in_progress"},
        {"worker_id": "worker-2", "task": "ui", "status": "completed"},
        {"worker_id": "worker-3", "status": "pending"},
    ],
}
MAESTRO = {"workers": [{"name": "BlueLake", "status": "running"}, {"name": "RedFox", "status": "done"}]}
NEWER = {"mode": "parallel", "agents": {"GreenHill": {"task_id": "t-3", "status": "running", "leases": []}}}


def read(folder: Path, state: Any, name: str = "parallel_state.json") -> Workers:
    (folder / name).write_text(state if isinstance(state, str) else json.dumps(state))
    return read_workers(str(folder), str(folder))


@pytest.mark.parametrize(
    ("state", "name", "running"),
    [
        (CONDUCTOR_BEADS, "parallel_state.json", ("worker-1",)),
        (MAESTRO, "parallel_state.json", ("BlueLake",)),
        (NEWER, "implement_parallel_state.json", ("GreenHill",)),
    ],
)
def test_every_dialect_names_who_is_at_work(tmp_path: Path, state: Any, name: str, running: Any) -> None:
    """running and in_progress, name and worker_id, a list or an object."""
    workers = read(tmp_path, state, name)
    assert workers.running == running
    assert workers.warnings == ()


def test_the_summary_counts_them(tmp_path: Path) -> None:
    """As the note in Beads tells it."""
    workers = read(tmp_path, CONDUCTOR_BEADS)
    assert workers.summary == "3 workers, 1 completed, 1 in progress"
    assert workers.descriptions == ("worker-1 running (api)", "worker-2 completed (ui)", "worker-3 pending")


def test_a_state_silent_for_an_hour_is_timed_out(tmp_path: Path) -> None:
    """Nobody is waited for who may be long gone; one minute less still counts."""
    read(tmp_path, CONDUCTOR_BEADS)
    for minutes, running in ((59, ("worker-1",)), (61, ())):
        at = time.time() - minutes * 60
        os.utime(tmp_path / "parallel_state.json", (at, at))
        assert read_workers(str(tmp_path), str(tmp_path)).running == running


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"workers": 5}', "null"])
def test_a_corrupt_state_is_a_warning(tmp_path: Path, text: str) -> None:
    """The handoff goes on."""
    workers = read(tmp_path, text)
    assert workers.running == ()
    assert "parallel_state.json is ignored" in workers.warnings[0]


def test_no_state_is_no_worker(tmp_path: Path) -> None:
    """And no warning."""
    assert read_workers(str(tmp_path), str(tmp_path)) == Workers()
