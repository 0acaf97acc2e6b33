"""``flowd logs``: the last events, readable, and new ones across a rotation."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.cli.flowd import main
from flowd.cli.flowd.logs import readable
from flowd.config.paths import resolve_paths
from tests.support.transcript_lines import append


def event(number: int) -> str:
    fields = {
        "event": f"event_{number}",
        "level": "info",
        "timestamp": "2025-01-02T03:04:05.678Z",
        "sink": "beads",
    }
    return json.dumps(fields) + "\n"


@pytest.fixture
def log() -> Path:
    """A log of thirty events."""
    file = resolve_paths().log_dir / "flowd.log"
    file.parent.mkdir(parents=True)
    file.write_text("".join(map(event, range(30))))
    return file


@pytest.fixture
def follower(log: Path) -> Iterator["subprocess.Popen[str]"]:
    """``flowd logs -f`` that has shown the last event and waits for more."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flowd", "logs", "-f", "-n", "1"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert "event_29" in process.stdout.readline()
    yield process
    process.kill()
    process.communicate()


def test_the_last_twenty_are_shown_readable(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2025-01-02 03:04:05 info    event_10 sink=beads"
    assert len(lines) == 20


@pytest.mark.parametrize(("wanted", "shown"), [("3", 3), ("1000", 30)])
def test_n_says_how_many(log: Path, capsys: pytest.CaptureFixture[str], wanted: str, shown: int) -> None:
    assert main(["logs", "-n", wanted]) == 0
    assert len(capsys.readouterr().out.splitlines()) == shown


def test_right_after_a_rotation_the_last_events_are_still_shown(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.rename(log.with_name("flowd.log.1"))
    log.write_text(event(30))
    assert main(["logs", "-n", "2"]) == 0
    assert [line.split()[3] for line in capsys.readouterr().out.splitlines()] == ["event_29", "event_30"]


def test_json_is_what_is_stored(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs", "-n", "2", "--json"]) == 0
    assert capsys.readouterr().out == event(28) + event(29)


def test_following_shows_new_events_across_a_rotation(log: Path, follower: "subprocess.Popen[str]") -> None:
    assert follower.stdout is not None
    append(log, event(30))
    assert "event_30" in follower.stdout.readline()
    log.rename(log.with_name("flowd.log.1"))
    append(log.with_name("flowd.log.1"), event(31))
    log.write_text(event(32))
    assert "event_31" in follower.stdout.readline()
    assert "event_32" in follower.stdout.readline()
    append(log, event(33))
    assert "event_33" in follower.stdout.readline()


def test_following_waits_for_the_end_of_a_line(log: Path, follower: "subprocess.Popen[str]") -> None:
    assert follower.stdout is not None
    half = len(event(30)) // 2
    append(log, event(30)[:half])
    append(log, event(30)[half:] + event(31))
    assert "event_30" in follower.stdout.readline()
    assert "event_31" in follower.stdout.readline()


def test_a_trace_a_broken_line_and_control_characters_stay_readable() -> None:
    assert readable(json.dumps({"event": "e", "level": "error", "exception": "Traceback\n  boom"})).endswith(
        "e\nTraceback\n  boom"
    )
    assert readable("no json at all\n") == "no json at all"
    assert "\x1b" not in readable(json.dumps({"event": "\x1b[2J"})) + readable("\x1b[2J\n")


def test_no_log_yet_is_said_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["logs"]) == 1
    assert "no log at" in (said := capsys.readouterr().err)
    assert "flowd start" in said


def test_what_happened_is_a_sentence_in_the_time_zone_of_the_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        line = '{"session": "4fec7ea0", "project": "/w", "level": "info", "event": "session_seen", '
        line += '"timestamp": "2026-01-01T20:00:00Z"}'
        assert readable(line) == "2026-01-02 05:00:00 info    session 4fec7ea0 appeared (/w)"
    finally:
        monkeypatch.undo()
        time.tzset()
