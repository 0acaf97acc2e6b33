"""The life of the daemon as a process: alone, private, hard to kill, quick to stop."""

import os
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowd.actions.daemon_client import ask
from flowd.system.errors import NotRunningError
from tests.support.planted import sink, start_with
from tests.support.transcript_lines import append, line, lines
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

DEADLINE_S = 30.0
HANG = sink(accept="time.sleep(3600)")


@pytest.fixture
def transcript(daemon_home: "DaemonHome") -> Path:
    """Where a session of this home would be."""
    folder = daemon_home.claude_dir / "projects" / "-work-project"
    folder.mkdir(parents=True)
    return folder / "s1.jsonl"


def captured(number: int) -> Callable[[dict[str, Any]], bool]:
    return lambda status: status["counts"]["captured"] >= number


def part(status: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [one for one in status["parts"] if one["name"] == name]
    return dict(found)


def died_so_often(times: int) -> Callable[[dict[str, Any]], bool]:
    return lambda status: part(status, "control")["deaths"] == times


def settled(status: dict[str, Any]) -> bool:
    """Say whether the one record has gone all the way."""
    return all(one["cursor"] and not one["queue"] for one in status["sinks"])


def everything(*roots: Path) -> dict[str, tuple[int, int, int]]:
    """Return each file below *roots* with inode, size and time of change."""
    found = {}
    for path in (path for root in roots for path in root.rglob("*")):
        status = path.lstat()
        found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def test_a_second_run_exits_with_one_naming_the_pid_and_touches_nothing(
    daemon_home: "DaemonHome", transcript: Path, tmp_path: Path, private_home: Path
) -> None:
    append(transcript, line(1))
    pid = daemon_home.start().pid
    daemon_home.wait_for(settled)
    roots = (tmp_path, private_home, daemon_home.paths.runtime_dir)
    before = everything(*roots)
    second = daemon_home.command("run")
    assert (second.returncode, second.stdout) == (1, "")
    assert second.stderr.startswith(f"flowd: flowd is already running (pid {pid})\n")
    assert everything(*roots) == before


def test_the_socket_and_all_files_are_for_this_user_only(daemon_home: "DaemonHome", transcript: Path) -> None:
    append(transcript, line(1))
    daemon_home.start()
    daemon_home.wait_for(captured(1))
    paths = daemon_home.paths
    assert stat.S_IMODE(paths.socket.stat().st_mode) == 0o600
    for root in (paths.data_dir, paths.state_dir):
        assert stat.S_IMODE(root.stat().st_mode) == 0o700
        for file in (path for path in root.rglob("*") if path.is_file()):
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


def test_another_user_cannot_connect(
    daemon_home: "DaemonHome", as_nobody: Callable[[Callable[[], int]], int]
) -> None:
    daemon_home.start()
    path = str(daemon_home.paths.socket)

    def connect() -> int:
        try:
            socket.socket(socket.AF_UNIX).connect(path)
        except PermissionError:
            return 13
        return 0

    assert as_nobody(connect) == 13
    daemon_home.paths.runtime_dir.chmod(0o755)
    assert as_nobody(connect) == 13


def test_another_user_who_gets_through_to_the_socket_is_not_answered(
    daemon_home: "DaemonHome", as_nobody: Callable[[Callable[[], int]], int]
) -> None:
    """Even with directory and socket wide open, the daemon asks the kernel who is there."""
    daemon_home.start()
    daemon_home.paths.runtime_dir.chmod(0o755)
    daemon_home.paths.socket.chmod(0o666)
    path = daemon_home.paths.socket

    def request() -> int:
        try:
            ask(path, "ping")
        except NotRunningError:
            return 13
        return 0

    assert as_nobody(request) == 13
    assert request() == 0


def test_sigterm_ends_the_daemon_in_time_although_a_sink_hangs(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    process = start_with(daemon_home, HANG)
    append(transcript, lines(1, 3))
    daemon_home.wait_for(captured(3))
    process.send_signal(signal.SIGTERM)
    assert process.wait(DEADLINE_S) == 0
    assert not daemon_home.paths.socket.exists()
    assert daemon_home.paths.lock.read_bytes() == b""


def test_a_second_signal_cuts_the_drain_short(daemon_home: "DaemonHome", transcript: Path) -> None:
    daemon_home.paths.config_file.write_text("sinks: {drain_s: 60}\n")
    process = start_with(daemon_home, HANG)
    append(transcript, line(1))
    daemon_home.wait_for(captured(1))
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGHUP)  # this one is no hurry
    log = daemon_home.paths.log_dir / "flowd.log"
    wait_until(lambda: b'"event": "stopping"' in log.read_bytes(), "the daemon stops")
    process.send_signal(signal.SIGINT)
    assert process.wait(DEADLINE_S) == 0


def test_a_hung_sink_does_not_keep_the_others_from_their_work(
    daemon_home: "DaemonHome", transcript: Path, tmp_path: Path
) -> None:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    start_with(daemon_home, HANG)
    append(transcript, line(1, cwd=str(tmp_path / "project")))
    daemon_home.wait_for(
        lambda status: all(one["delivered"] for one in status["sinks"] if one["name"] == "handoff_yaml")
    )
    assert (tmp_path / "project" / ".flow-guardian" / "handoff.yaml").exists()


def test_what_a_killed_sink_had_not_taken_is_delivered_after_the_restart(
    daemon_home: "DaemonHome", transcript: Path, tmp_path: Path
) -> None:
    start_with(daemon_home, HANG)
    append(transcript, line(1))
    daemon_home.wait_for(captured(1))
    daemon_home.kill()
    start_with(daemon_home, sink(accept=f"open({str(tmp_path / 'got')!r}, 'a').write(fact.session_id)"))
    daemon_home.wait_for(
        lambda status: all(one["delivered"] for one in status["sinks"] if one["name"] == "planted")
    )
    assert (tmp_path / "got").read_text() == "s1"


def test_a_part_that_dies_is_started_again_and_misses_nothing(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    plant = """
from flowd.daemon.reading.reader import Reader
really, deaths = Reader.step, []
def step(self):
    if not deaths:
        deaths.append(1)
        raise RuntimeError("planted")
    return really(self)
Reader.step = step
"""
    start_with(daemon_home, plant)
    append(transcript, lines(1, 5))
    status = daemon_home.wait_for(captured(5))
    reader = part(status, "reader")
    assert (reader["state"], reader["deaths"]) == ("running", 1)
    assert reader["last_error"] == "RuntimeError: planted"
    assert status["counts"]["captured"] == 5


def test_three_deaths_in_a_minute_make_a_part_failed_and_the_rest_goes_on(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    start_with(daemon_home, sink(key="raise RuntimeError('planted')"))
    append(transcript, line(1))
    status = daemon_home.wait_for(lambda status: part(status, "planted")["state"] == "failed")
    assert part(status, "planted")["deaths"] == 3
    assert "planted is failed: RuntimeError: planted" in status["reasons"]
    assert not status["healthy"]
    append(transcript, line(2))
    daemon_home.wait_for(captured(2))
    assert daemon_home.stop() == 0


def test_parts_that_die_leave_no_thread_and_no_open_file_behind(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    plant = """
import signal, threading
from flowd.daemon.control.server import ControlServer
really = ControlServer._accept
def accept(self, listener):
    really(self, listener)
    if not accept.done:
        accept.done = True
        raise RuntimeError("planted")
accept.done = True
ControlServer._accept = accept
signal.signal(signal.SIGUSR1, lambda *_: setattr(accept, "done", False))
"""
    process = start_with(daemon_home, plant)
    append(transcript, line(1))
    daemon_home.wait_for(settled)
    seen = []
    # SQLite keeps one descriptor back for the next connection, so the first death does not count.
    for deaths in (1, 2):
        process.send_signal(signal.SIGUSR1)
        status = daemon_home.wait_for(died_so_often(deaths))
        seen.append((status["process"]["threads"], status["process"]["open_files"]))
    assert seen[0] == seen[1]


def test_claude_code_may_come_after_flowd(daemon_home: "DaemonHome") -> None:
    """Neither its directory nor ``projects`` exists when the daemon starts."""
    daemon_home.start()
    assert daemon_home.status()["healthy"]
    transcript = daemon_home.claude_dir / "projects" / "-p" / "s1.jsonl"
    daemon_home.claude_dir.mkdir()
    transcript.parent.mkdir(parents=True)
    append(transcript, line(1))
    status = daemon_home.wait_for(captured(1))
    append(transcript, line(2))
    daemon_home.wait_for(captured(2))
    assert status["healthy"]


def test_projects_that_are_deleted_and_made_again_are_followed_again(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    append(transcript, line(1))
    daemon_home.start()
    daemon_home.wait_for(captured(1))
    transcript.unlink()
    transcript.parent.rmdir()
    transcript.parent.parent.rmdir()
    daemon_home.wait_for(lambda status: status["counts"]["troubles"].get("vanished") == 1)
    other = transcript.with_name("s2.jsonl")
    other.parent.mkdir(parents=True)
    append(other, line(1, "s2"))
    daemon_home.wait_for(captured(2))


def test_a_project_directory_renamed_and_made_again_is_watched_under_both_names(
    daemon_home: "DaemonHome", transcript: Path
) -> None:
    append(transcript, line(1))
    daemon_home.start()
    daemon_home.wait_for(captured(1))
    moved = transcript.parent.rename(transcript.parent.with_name("-moved"))
    daemon_home.wait_for(lambda status: status["counts"]["troubles"].get("renamed") == 1)
    transcript.parent.mkdir()
    append(transcript.with_name("s2.jsonl"), line(1, "s2"))
    daemon_home.wait_for(captured(2))
    append(transcript.with_name("s2.jsonl"), line(2, "s2"))
    append(moved / "s1.jsonl", line(2))
    status = daemon_home.wait_for(captured(4))
    assert status["counts"]["captured"] == 4


def test_a_projects_directory_that_is_a_link_is_followed(daemon_home: "DaemonHome", tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "-p"
    real.mkdir(parents=True)
    daemon_home.claude_dir.mkdir()
    (daemon_home.claude_dir / "projects").symlink_to(real.parent)
    daemon_home.start()
    append(real / "s1.jsonl", line(1))
    daemon_home.wait_for(captured(1))


@pytest.mark.unmeasured
def test_the_daemon_carries_none_of_the_heavy_packages(
    daemon_home: "DaemonHome", transcript: Path, tmp_path: Path
) -> None:
    """Also after it has migrated core.db, read a transcript and written a handoff."""
    listing = tmp_path / "modules"
    plant = f"""
import os, signal, sys
def tell(*_):
    with open({str(listing) + ".new"!r}, "w") as file:
        file.write("\\n".join(name for name, module in sys.modules.items() if module is not None))
    os.rename({str(listing) + ".new"!r}, {str(listing)!r})
signal.signal(signal.SIGUSR1, tell)
"""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    process = start_with(daemon_home, plant)
    append(transcript, line(1, cwd=str(tmp_path / "project")))
    daemon_home.wait_for(lambda status: all(one["cursor"] for one in status["sinks"]))
    process.send_signal(signal.SIGUSR1)
    wait_until(listing.exists, "the daemon lists its modules")
    loaded = {name.partition(".")[0] for name in listing.read_text().split()}
    assert "watchdog" in loaded
    assert loaded & {"mcp", "click", "rich", "asyncio", "ssl", "sqlite_utils", "daemon", "pydantic"} == set()


def test_the_runtime_directory_of_somebody_else_is_refused(
    daemon_home: "DaemonHome", as_nobody: Callable[[Callable[[], int]], int]
) -> None:
    os.chown(daemon_home.paths.runtime_dir, 65534, 65534)
    refused = daemon_home.command("run")
    assert refused.returncode == 1
    assert "is not private to this user" in refused.stderr
