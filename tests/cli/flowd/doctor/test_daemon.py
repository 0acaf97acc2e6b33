"""``flowd doctor`` as a whole: one line per check, an exit code, and not a byte changed."""

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from flowd.cli.flowd.doctor import CHECKS, line
from flowd.cli.flowd.doctor.daemon import (
    check_health,
    check_records,
    check_running,
    check_socket,
    check_versions,
)
from flowd.cli.flowd.doctor.finding import CheckResult, gather_context
from flowd.config.paths import resolve_paths

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    }


def levels(printed: str) -> dict[str, str]:
    findings: list[dict[str, Any]] = json.loads(printed)["findings"]
    return {finding["check"]: finding["level"] for finding in findings}


def test_a_healthy_daemon_has_no_trouble(daemon_home: "DaemonHome") -> None:
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["store"]["size_bytes"] > 0)
    shown = daemon_home.command("doctor")
    assert shown.returncode == 0
    assert len(shown.stdout.splitlines()) == len(CHECKS) + 1
    assert "trouble" not in shown.stdout


def test_without_a_daemon_everything_else_is_still_checked(daemon_home: "DaemonHome") -> None:
    shown = daemon_home.command("doctor", "--json")
    assert shown.returncode == 1
    found = levels(shown.stdout)
    assert found["running"] == "trouble"
    assert [check for check, level in found.items() if level == "trouble"] == ["running"]
    assert list(found) == [check.__name__.removeprefix("check_") for check in CHECKS]


def test_nothing_is_changed_by_looking(daemon_home: "DaemonHome", tmp_path: Path, private_home: Path) -> None:
    daemon_home.command("doctor")
    assert [*tmp_path.iterdir(), *private_home.iterdir()] == []
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["store"]["size_bytes"] > 0)
    daemon_home.stop()
    before = snapshot(tmp_path)
    daemon_home.command("doctor")
    assert snapshot(tmp_path) == before


def test_a_finding_is_one_line_with_its_fix() -> None:
    assert line(CheckResult("running", "trouble", "flowd is not running", "flowd start")) == (
        "trouble  running      flowd is not running  ->  flowd start"
    )
    assert line(CheckResult("git", "ok", "found")) == "ok       git          found"


def test_a_place_that_may_not_be_looked_at_is_one_trouble_among_the_findings(
    daemon_home: "DaemonHome", monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flowd.cli.flowd import main

    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied", "/data")

    monkeypatch.setattr("flowd.cli.flowd.doctor.files.shutil.disk_usage", refuse)
    assert main(["doctor"]) == 1
    shown = capsys.readouterr().out
    assert "trouble  disk         check failed: [Errno 13] Permission denied: '/data'" in shown
    assert len(shown.splitlines()) == len(CHECKS) + 1


def test_a_daemon_that_does_not_answer_is_told_from_one_that_does_not_run(
    daemon_home: "DaemonHome", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.cli.flowd.doctor.finding.STATUS_DEADLINE_S", 0.1)
    process = daemon_home.start()
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    try:
        case = gather_context(resolve_paths())
    finally:
        process.send_signal(signal.SIGCONT)
    assert check_running(case) == CheckResult("running", "ok", f"flowd is running (pid {process.pid})")
    stuck = check_socket(case)
    assert (stuck.level, stuck.fix) == ("trouble", "flowd restart")
    assert "does not answer" in stuck.seen


def test_a_socket_that_others_may_open_is_trouble(daemon_home: "DaemonHome") -> None:
    daemon_home.start()
    assert check_socket(gather_context(resolve_paths())).level == "ok"
    socket = daemon_home.paths.socket
    socket.chmod(0o666)
    assert check_socket(gather_context(resolve_paths())) == CheckResult(
        "socket", "trouble", f"{socket} has mode 0666", f"chmod 600 {socket}"
    )


def test_a_daemon_of_another_version_and_its_complaints_are_named(daemon_home: "DaemonHome") -> None:
    daemon_home.start()
    case = gather_context(resolve_paths())
    assert case.status is not None
    assert check_versions(case).level == "ok"
    answer = {"version": "9.9", "healthy": False, "reasons": ["core.db is full"]}
    other = case._replace(status=msgspec.structs.replace(case.status, **answer))
    assert check_versions(other).fix == "flowd restart"
    assert "9.9" in check_versions(other).seen
    assert check_health(other).seen == "core.db is full"


def test_records_of_types_that_flowd_does_not_know_are_named(daemon_home: "DaemonHome") -> None:
    transcript = daemon_home.claude_dir / "projects" / "-work" / "s1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text('{"type": "mood"}\n{"type": "user"}\n{"type": "brain-wave"}\n{"type": "mood"}\n')
    assert check_records(gather_context(resolve_paths())).level == "info"
    daemon_home.start()
    daemon_home.wait_for(lambda status: status["counts"]["unknown_types"] == {"mood": 2, "brain-wave": 1})
    found = check_records(gather_context(resolve_paths()))
    assert (found.level, found.seen.partition(": ")[2]) == ("info", "mood (2), brain-wave (1)")
