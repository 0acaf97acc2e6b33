"""Who runs is what the kernel's lock says."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.actions.daemon_client import Holder, control_socket, running_holder
from flowd.config.paths import resolve_paths
from flowd.daemon.lock import AlreadyRunningError, InstanceLock

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

ME = Holder(pid=42, version="1", socket="/somewhere/flowd.sock", started_at=1.0)
HOLD_AND_WAIT = """
import sys
from pathlib import Path
from flowd.daemon.lock import InstanceLock
lock = InstanceLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def held(path: Path) -> InstanceLock:
    lock = InstanceLock(path)
    lock.acquire()
    lock.describe(ME)
    return lock


def test_the_second_one_is_told_the_pid_of_the_first(tmp_path: Path) -> None:
    lock = held(tmp_path / "lock")
    with pytest.raises(AlreadyRunningError, match="pid 42"):
        InstanceLock(tmp_path / "lock").acquire()
    lock.release()


def test_a_released_lock_can_be_taken_again_and_names_nobody(tmp_path: Path) -> None:
    held(tmp_path / "lock").release()
    assert running_holder(tmp_path / "lock") is None
    assert (tmp_path / "lock").read_bytes() == b""
    held(tmp_path / "lock").release()


def test_a_killed_holder_leaves_a_lock_that_nobody_holds(tmp_path: Path) -> None:
    """The file's text outlives the process; the kernel's lock does not."""
    file = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_AND_WAIT, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunningError, match="another process"):
            InstanceLock(file).acquire()
        holder.kill()
    file.write_bytes(b'{"pid":42,"version":"1","socket":"/s","started_at":1.0}')
    assert running_holder(file) is None
    held(file).release()


def test_no_lock_file_means_that_nobody_runs(tmp_path: Path) -> None:
    assert running_holder(tmp_path / "lock") is None
    assert list(tmp_path.iterdir()) == []


def test_the_lock_file_is_private_and_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    held(tmp_path / "own" / "lock").release()
    assert (tmp_path / "own" / "lock").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic links"):
        InstanceLock(tmp_path / "link").acquire()


def test_asking_who_runs_never_refuses_a_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks holds a shared lock for an instant; a start meanwhile waits for it."""
    held(tmp_path / "lock").release()
    asker = os.open(tmp_path / "lock", os.O_RDONLY)
    fcntl.flock(asker, fcntl.LOCK_SH)
    monkeypatch.setattr("flowd.system.locks.time.sleep", lambda _: os.close(asker))
    held(tmp_path / "lock").release()


def test_the_socket_of_the_running_daemon_is_found_whatever_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock = held(resolve_paths().lock)
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", str(tmp_path / "elsewhere"))
    assert control_socket(resolve_paths()) == Path("/somewhere/flowd.sock")
    lock.release()
    assert control_socket(resolve_paths()) == tmp_path / "elsewhere" / "flowd.sock"


def test_a_second_daemon_exits_with_one_naming_the_pid_and_touches_nothing(daemon_home: "DaemonHome") -> None:
    pid = daemon_home.start().pid
    before = {
        path: path.stat().st_mtime_ns for path in daemon_home.paths.state_dir.iterdir() if path.is_file()
    }
    second = daemon_home.command("run")
    assert second.returncode == 1
    assert f"already running (pid {pid})" in second.stderr
    assert daemon_home.status()["pid"] == pid
    assert {path: path.stat().st_mtime_ns for path in before} == before
