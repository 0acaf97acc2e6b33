"""``flowd start``, ``stop`` and ``restart``: alone, and under a manager that owns the daemon."""

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from flowd.cli.flowd.lifecycle import Started, Stopped, restart, start, stop
from flowd.config.paths import resolve_paths

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome
    from tests.support.stand_in_programs import Managers


def test_start_answers_when_the_daemon_does_and_a_second_start_says_so(daemon_home: "DaemonHome") -> None:
    first = start(resolve_paths())
    assert first.how is Started.NOW
    assert daemon_home.status()["pid"] == first.pid
    assert start(resolve_paths()) == (Started.ALREADY, first.pid)


def test_stop_says_how_it_ended(daemon_home: "DaemonHome") -> None:
    assert stop(resolve_paths()) is Stopped.NOT_RUNNING
    process = daemon_home.start()
    assert stop(resolve_paths()) is Stopped.TERMINATED
    assert process.wait(30) == 0
    assert not daemon_home.paths.socket.exists()


def test_a_daemon_that_does_not_end_is_killed_and_that_is_said(
    daemon_home: "DaemonHome", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.cli.flowd.lifecycle.STOP_DEADLINE_S", 0.1)
    process = daemon_home.start()
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    assert stop(resolve_paths()) is Stopped.KILLED
    assert process.wait(30) == -signal.SIGKILL
    assert start(resolve_paths()).how is Started.NOW


def test_restart_replaces_a_running_one_and_starts_a_missing_one(daemon_home: "DaemonHome") -> None:
    first = restart(resolve_paths())
    second = restart(resolve_paths())
    assert first != second
    assert daemon_home.status()["pid"] == second


def test_restart_finds_a_wrong_setting_before_it_stops_anything(daemon_home: "DaemonHome") -> None:
    pid = daemon_home.start().pid
    daemon_home.paths.config_file.write_text("nonsense: 1\n")
    assert daemon_home.command("restart").returncode == 1
    assert daemon_home.status()["pid"] == pid


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-ins look into /proc")
def test_a_daemon_handed_to_a_manager_stays_with_it(managers: "Managers", daemon_home: "DaemonHome") -> None:
    """Otherwise the first `flowd restart` after an upgrade would end its restarts and its watchdog."""
    assert daemon_home.command("install").returncode == 0
    assert daemon_home.command("restart").stdout == f"flowd restarted (pid {managers.pid()})\n"
    assert daemon_home.command("stop").stdout == "flowd stopped\n"
    assert daemon_home.command("start").stdout == f"flowd started (pid {managers.pid()})\n"
    asked = [call.split()[2] for call in managers.calls()]
    assert asked == ["daemon-reload", "enable", "restart", "stop", "start", "stop", "start"]


@pytest.mark.skipif(sys.platform != "linux", reason="the stand-ins look into /proc")
def test_a_daemon_with_other_places_is_not_taken_for_the_managers_one(
    managers: "Managers", daemon_home: "DaemonHome", monkeypatch: pytest.MonkeyPatch
) -> None:
    assert daemon_home.command("install").returncode == 0
    before = managers.calls()
    monkeypatch.setenv("FLOWD_STATE_DIR", str(daemon_home.claude_dir.parent / "other"))
    monkeypatch.setenv("FLOWD_DATA_DIR", str(daemon_home.claude_dir.parent / "other"))
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", str(daemon_home.paths.runtime_dir / "o"))
    other = start(resolve_paths())
    assert other.pid != managers.pid()
    assert stop(resolve_paths()) is Stopped.TERMINATED
    assert managers.calls() == before
