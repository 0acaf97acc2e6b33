"""A daemon knows whether its threads answer, its lock is its own, and core.db is whole."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.actions.daemon_client import ask, running_holder
from flowd.daemon import health
from flowd.daemon.health import BackupRunner, Health
from flowd.daemon.process import InstanceLocks
from flowd.daemon.store_gate import StoreGate
from flowd.daemon.supervised_thread import SupervisedThread
from flowd.daemon.timing import Timer
from flowd.store.backups import daily_backups
from flowd.store.database import Database
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    import threading

    from tests.support.daemon_home import DaemonHome


class Deaf:
    """Runs, and answers nothing."""

    def __init__(self, stop: "threading.Event") -> None:
        self._stop = stop

    def run(self) -> None:
        self._stop.wait()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Drop it."""


@pytest.fixture
def locks(tmp_path: Path) -> InstanceLocks:
    taken = InstanceLocks(tmp_path / "state" / "flowd.lock", tmp_path / "data" / "core.db")
    taken.acquire()
    return taken


@pytest.fixture
def gate(database: Database) -> StoreGate:
    import threading

    gate = StoreGate(database)
    gate.open(threading.Event())
    return gate


def started(name: str, runnable: object) -> SupervisedThread:
    thread = SupervisedThread(name, lambda: runnable, lambda _: None)  # type: ignore[arg-type, return-value]  # a stand-in
    thread.start()
    return thread


def test_a_thread_that_answers_is_alive_and_a_deaf_one_is_named(
    gate: StoreGate, locks: InstanceLocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    stop, timer = threading.Event(), Timer()
    threads = {"timer": started("timer", timer), "control": started("control", Deaf(stop))}
    sent: list[str] = []
    monkeypatch.setattr(health, "notify", sent.append)
    try:
        guard = Health(threads, gate, locks, lambda: None)
        for thread in threads.values():
            thread._beat_at -= 1000
        assert set(guard.silent(500)) == {"timer", "control"}
        guard.request_beats()
        wait_until(lambda: set(guard.silent(500)) == {"control"})
        assert any(problem.startswith("control has not answered for 10") for problem in guard.problems)
        guard.notify_watchdog()
        assert sent == []
        threads["control"]._beat()
        guard.notify_watchdog()
        assert sent == ["WATCHDOG=1"]
        assert guard.problems == []
    finally:
        stop.set()
        timer.close()


def test_while_core_db_is_unavailable_nobody_is_called_silent(gate: StoreGate, locks: InstanceLocks) -> None:
    import threading

    stop = threading.Event()
    threads = {"reader": started("reader", Deaf(stop))}
    threads["reader"]._beat_at -= 1000
    guard = Health(threads, gate, locks, lambda: None)
    gate.condition = "locked"
    assert guard.problems == []
    stop.set()


def test_a_removed_lock_file_is_made_again(tmp_path: Path, gate: StoreGate, locks: InstanceLocks) -> None:
    ended: list[int] = []
    guard = Health({}, gate, locks, lambda: ended.append(1))
    (tmp_path / "state" / "flowd.lock").unlink()
    (tmp_path / "data" / "core.db.lock").unlink()
    guard.check_locks()
    assert not ended
    with pytest.raises(Exception, match="already running"):
        InstanceLocks(tmp_path / "state" / "flowd.lock", tmp_path / "other.db").acquire()
    with pytest.raises(Exception, match="already running"):
        InstanceLocks(tmp_path / "other.lock", tmp_path / "data" / "core.db").acquire()


def test_who_lost_the_lock_to_another_daemon_ends(
    tmp_path: Path, gate: StoreGate, locks: InstanceLocks
) -> None:
    ended: list[int] = []
    guard = Health({}, gate, locks, lambda: ended.append(1))
    (tmp_path / "state" / "flowd.lock").unlink()
    other = InstanceLocks(tmp_path / "state" / "flowd.lock", tmp_path / "other.db")
    other.acquire()
    guard.check_locks()
    assert ended == [1]
    other.release()


def test_core_db_is_copied_and_checked(gate: StoreGate) -> None:
    runner = BackupRunner(gate)
    assert runner.interval_s() == health.FIRST_BACKUP_S
    runner.start()
    runner.join()
    assert runner.problem == ""
    assert len(daily_backups(gate.database.path)) == 1
    assert runner.interval_s() == health.BACKUP_CHECK_S


@pytest.mark.parametrize("is_due", [True, False], ids=["when a copy is due", "when it is only checked"])
def test_a_damaged_core_db_is_a_problem_that_is_named(gate: StoreGate, *, is_due: bool) -> None:
    runner = BackupRunner(gate)
    if not is_due:
        runner.start()
        runner.join()
    gate.database.connection().execute("pragma wal_checkpoint(truncate)")
    gate.database.close()
    with gate.database.path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * 40_960)
    runner.start()
    runner.join()
    assert "core.db" in runner.problem
    assert "is damaged" in runner.problem or "cannot be copied" in runner.problem


def test_a_core_db_that_vanished_and_was_made_anew_is_a_problem_that_is_named(
    gate: StoreGate, locks: InstanceLocks
) -> None:
    import threading

    gate.database.close()
    for suffix in ("", "-wal", "-shm"):
        gate.database.path.with_name(gate.database.path.name + suffix).unlink(missing_ok=True)
    assert gate.open(threading.Event())
    (problem,) = Health({}, gate, locks, lambda: None).problems
    assert "core.db was gone, a new one was made" in problem


def test_a_daemon_whose_files_were_removed_makes_them_again(daemon_home: "DaemonHome") -> None:
    daemon = daemon_home.start()
    paths = daemon_home.paths
    paths.socket.unlink()
    paths.lock.unlink()
    wait_until(lambda: running_holder(paths.lock) is not None, "the lock is held again")
    holder = running_holder(paths.lock)
    assert holder is not None
    assert holder.pid == daemon.pid
    wait_until(paths.socket.exists, "the socket is there again")
    daemon_home.wait_for(lambda status: status["pid"] == daemon.pid)
    assert daemon_home.stop() == 0
    assert not paths.socket.exists()


def run_elsewhere(home: "DaemonHome", **places: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "flowd", "run"],
        env=home.env | places,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_two_daemons_share_neither_socket_nor_core_db_nor_state(
    daemon_home: "DaemonHome", tmp_path: Path
) -> None:
    daemon_home.start()
    other = {"FLOWD_STATE_DIR": str(tmp_path / "s2"), "FLOWD_DATA_DIR": str(tmp_path / "d2")}
    socket_taken = run_elsewhere(daemon_home, **other)
    assert socket_taken.returncode == 1
    assert "another flowd answers at" in socket_taken.stderr
    apart = {"FLOWD_STATE_DIR": str(tmp_path / "s3"), "FLOWD_RUNTIME_DIR": str(tmp_path / "r3")}
    database_taken = run_elsewhere(daemon_home, **apart)
    assert database_taken.returncode == 1
    assert f"already running (pid {daemon_home.status()['pid']})" in database_taken.stderr
    assert daemon_home.status()["healthy"]
    assert daemon_home.stop() == 0


def test_the_socket_moves_with_the_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, daemon_home: "DaemonHome"
) -> None:
    """Two daemons, each with directories of its own: each answers for itself."""
    first = daemon_home.start().pid
    monkeypatch.delenv("FLOWD_RUNTIME_DIR")
    monkeypatch.setenv("FLOWD_STATE_DIR", str(tmp_path / "s"))
    monkeypatch.setenv("FLOWD_DATA_DIR", str(tmp_path / "d"))
    second = subprocess.Popen([sys.executable, "-m", "flowd", "run"], env=dict(os.environ))
    try:
        socket = daemon_home.paths.socket
        assert tmp_path / "s" in socket.parents or len(os.fsencode(socket)) < 100
        wait_until(socket.exists)
        assert ask(socket, "ping")["pid"] == second.pid != first
    finally:
        second.send_signal(signal.SIGTERM)
        assert second.wait(60) == 0


def test_a_daemon_that_does_not_answer_is_not_called_stopped(daemon_home: "DaemonHome") -> None:
    daemon = daemon_home.start()
    daemon.send_signal(signal.SIGSTOP)
    try:
        daemon_home.paths.socket.unlink()
        shown = daemon_home.command("status")
        assert f"flowd runs (pid {daemon.pid}) but does not answer" in shown.stderr
        assert "flowd restart" in shown.stderr
    finally:
        daemon.send_signal(signal.SIGCONT)


def test_a_copy_is_a_database_of_its_own(gate: StoreGate) -> None:
    runner = BackupRunner(gate)
    runner.start()
    runner.join()
    (copy,) = daily_backups(gate.database.path)
    connection = sqlite3.connect(copy.path)
    assert connection.execute("pragma quick_check").fetchone() == ("ok",)
    connection.close()
