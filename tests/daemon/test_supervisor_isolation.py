"""One project's content never stops a real daemon for the others, now or after a restart."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.transcript_lines import append, line

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome, Status

BLOCK = "## Handoff\n\n```yaml\nphase: build\noutcome: done\nkey_decisions:\n  - use a queue\n```\n"
Poison = Callable[["DaemonHome", Path], bytes]


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def deep_line(home: "DaemonHome", project: Path) -> bytes:
    return b'{"type":"user","sessionId":"bad","message":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"


def null_in_cwd(home: "DaemonHome", project: Path) -> bytes:
    return line(1, "bad", cwd=f"{project}\0x", timestamp=now())


def surrogate_in_metadata(home: "DaemonHome", project: Path) -> bytes:
    track = project / "conductor" / "tracks" / "one"
    track.mkdir(parents=True)
    (track / "plan.md").write_text("## E1\n- [ ] a\n")
    (track / "metadata.json").write_text('{"status":"in_progress","handoff":{"\\ud800":1}}')
    return line(1, "bad", cwd=str(project), timestamp=now())


def task_file_that_is_not_utf8(home: "DaemonHome", project: Path) -> bytes:
    (project / "tasks").mkdir()
    Path(os.fsdecode(os.fsencode(project / "tasks") + b"/a\xff.md")).write_text(BLOCK)
    return line(1, "bad", cwd=str(project), timestamp=now())


def task_file_that_is_a_terminal(home: "DaemonHome", project: Path) -> bytes:
    (project / "tasks").mkdir()
    (project / "tasks" / "x.md").symlink_to("/dev/ptmx")
    return line(1, "bad", cwd=str(project), timestamp=now())


def task_file_that_is_a_pipe(home: "DaemonHome", project: Path) -> bytes:
    (project / "tasks").mkdir()
    os.mkfifo(project / "tasks" / "x.md")
    return line(1, "bad", cwd=str(project), timestamp=now())


def exclusive_lock_that_is_a_terminal(home: "DaemonHome", project: Path) -> bytes:
    (project / ".beads").mkdir()
    (project / ".beads" / ".exclusive-lock").symlink_to("/dev/ptmx")
    return line(1, "bad", cwd=str(project), timestamp=now())


def reflog_that_is_a_pipe(home: "DaemonHome", project: Path) -> bytes:
    (project / ".git" / "logs").mkdir()
    os.mkfifo(project / ".git" / "logs" / "HEAD")
    return line(1, "bad", cwd=str(project), timestamp=now())


def hostile_plan(home: "DaemonHome", project: Path) -> bytes:
    track = project / "conductor" / "tracks" / "one"
    track.mkdir(parents=True)
    (track / "metadata.json").write_text('{"status":"in_progress"}')
    (track / "plan.md").write_text("## Epic" + " " * 20_000 + "1\n- [ ] a\n")
    return line(1, "bad", cwd=str(project), timestamp=now())


def hostile_workflow(home: "DaemonHome", project: Path) -> bytes:
    hostile_plan(home, project)
    workflow = project / "conductor" / "workflow.md"
    workflow.write_text("handoff:\n  secrets_patterns: ['" + ".*" * 25 + "']\n  x: " + "[" * 200_000 + "\n")
    return line(1, "bad", cwd=str(project), timestamp=now())


POISONS = (
    deep_line,
    null_in_cwd,
    surrogate_in_metadata,
    task_file_that_is_not_utf8,
    task_file_that_is_a_terminal,
    task_file_that_is_a_pipe,
    exclusive_lock_that_is_a_terminal,
    reflog_that_is_a_pipe,
    hostile_plan,
    hostile_workflow,
)


def transcript(home: "DaemonHome", session: str) -> Path:
    folder = home.claude_dir / "projects" / f"-{session}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.jsonl"


def shown(project: Path, status: "Status") -> bool:
    """Return True if *project*'s handoff file is current and every thread of the daemon works."""
    file = project / ".flow-guardian" / "handoff.yaml"
    if not file.exists() or any(part["state"] != "running" for part in status["parts"]):
        return False
    handoff = yaml.safe_load(file.read_text(encoding="utf-8"))
    session = next((row for row in status["sessions"] if row["session_id"] == "good"), None)
    return session is not None and handoff["session_id"] == "good" and session["lag_bytes"] == 0


@pytest.fixture
def bad_project(tmp_path: Path) -> Path:
    root = tmp_path / "bad"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.mark.parametrize("poison", POISONS, ids=lambda poison: poison.__name__)
def test_an_innocent_project_stays_current_beside_it(
    poison: Poison, daemon_home: "DaemonHome", project: Path, bad_project: Path
) -> None:
    data = poison(daemon_home, bad_project)
    daemon_home.start()
    append(transcript(daemon_home, "bad"), data)
    append(transcript(daemon_home, "good"), line(1, "good", cwd=str(project), timestamp=now()))
    daemon_home.wait_for(lambda status: shown(project, status) and records(status) == 1)
    append(transcript(daemon_home, "bad"), data)
    append(transcript(daemon_home, "good"), line(2, "good", cwd=str(project), timestamp=now()))
    daemon_home.wait_for(lambda status: shown(project, status) and records(status) == 2)
    assert daemon_home.stop() == 0
    append(transcript(daemon_home, "good"), line(3, "good", cwd=str(project), timestamp=now()))
    daemon_home.start()
    status = daemon_home.wait_for(lambda status: shown(project, status) and records(status) == 3)
    assert [part["deaths"] for part in status["parts"]] == [0] * len(status["parts"])
    assert daemon_home.stop() == 0


def records(status: "Status") -> int:
    return next((row["records"] for row in status["sessions"] if row["session_id"] == "good"), 0)


def test_status_and_doctor_name_what_is_left_out_and_retry_takes_it_up(
    daemon_home: "DaemonHome", project: Path
) -> None:
    (project / "tasks").mkdir()
    task = project / "tasks" / "x.md"
    task.symlink_to("/dev/null")
    daemon_home.start()
    append(transcript(daemon_home, "good"), line(1, "good", cwd=str(project), timestamp=now()))
    status = daemon_home.wait_for(lambda status: bool(status["failures"]))
    (failure,) = status["failures"]
    assert failure["path"] == str(task)
    assert "leads out of" in failure["error"]
    assert failure["since"] > 0
    assert not status["healthy"]
    assert "LEFT OUT" in daemon_home.command("status").stdout
    assert str(task) in daemon_home.command("doctor").stdout
    task.unlink()
    task.write_text(BLOCK)
    assert daemon_home.command("retry").returncode == 0
    daemon_home.wait_for(lambda status: not status["failures"] and status["healthy"])
