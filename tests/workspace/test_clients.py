"""Clients that were killed are told from those that live, by the files that both leave."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.workspace.clients import gone_sessions


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where clients keep their files."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


def note(folder: Path, pid: int, session: str, **more: object) -> None:
    (folder / f"{pid}.json").write_text(json.dumps({"pid": pid, "sessionId": session, "cwd": "/x", **more}))


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_client_that_is_no_more_is_gone_and_a_living_one_is_not(folder: Path) -> None:
    note(folder, dead_pid(), "killed")
    note(folder, os.getpid(), "living")
    assert gone_sessions(str(folder.parent)) == {"killed"}


def test_a_session_resumed_after_its_client_was_killed_is_not_gone(folder: Path) -> None:
    note(folder, dead_pid(), "resumed")
    note(folder, os.getpid(), "resumed")
    assert gone_sessions(str(folder.parent)) == frozenset()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when a process was started")
def test_a_number_given_to_another_process_since_does_not_count(folder: Path) -> None:
    note(folder, os.getpid(), "killed", procStart="1")
    assert gone_sessions(str(folder.parent)) == {"killed"}
    started = Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]
    note(folder, os.getpid(), "living", procStart=started)
    assert gone_sessions(str(folder.parent)) == frozenset()


def test_files_of_another_shape_are_passed_over(folder: Path) -> None:
    (folder / "1.json").write_text("{")
    (folder / "2.json").write_text('{"pid": "x"}')
    (folder / "3.json").mkdir()
    (folder / "4.key").write_text("secret")
    assert gone_sessions(str(folder.parent)) == frozenset()


def test_without_the_folder_nobody_is_gone(tmp_path: Path) -> None:
    assert gone_sessions(str(tmp_path)) == frozenset()
