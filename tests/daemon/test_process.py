"""One daemon per user, its malloc arenas, and what it sends to systemd."""

import ctypes
import fcntl
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.actions.daemon_client import Holder, ask, control_socket, running_holder
from flowd.config.paths import resolve_paths
from flowd.daemon import process
from flowd.daemon.process import AlreadyRunningError, InstanceLock, notify, watchdog_interval_s

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


ME = Holder(pid=42, version="1", socket="/somewhere/flowd.sock", started_at=1.0)
HOLD_AND_WAIT = """
import sys
from pathlib import Path
from flowd.daemon.process import InstanceLock
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


class Library:
    """Notes the calls that the C library would get."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def mallopt(self, option: int, value: int) -> None:
        self.calls.append((option, value))


def test_on_linux_the_number_of_arenas_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    process.limit_arenas()
    assert library.calls == [(process.M_ARENA_MAX, process.ARENAS)]


def test_elsewhere_nothing_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    process.limit_arenas()
    assert library.calls == []


def test_a_c_library_without_arenas_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    process.limit_arenas()


DEADLINE_S = 30.0


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A stand-in for the socket on which systemd listens."""
    with (
        tempfile.TemporaryDirectory(prefix="flowd-test-") as folder,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener,
    ):
        listener.settimeout(DEADLINE_S)
        listener.bind(f"{folder}/notify")
        monkeypatch.setenv("NOTIFY_SOCKET", f"{folder}/notify")
        yield listener


def test_a_message_reaches_the_manager(manager: socket.socket) -> None:
    notify("READY=1")
    assert manager.recv(100) == b"READY=1"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has sockets without a file")
def test_a_manager_without_a_file_is_reached_too(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"flowd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.settimeout(DEADLINE_S)
        listener.bind(f"\0{name}")
        monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")
        notify("READY=1")
        assert listener.recv(100) == b"READY=1"


def test_no_manager_and_a_manager_that_went_away_are_no_trouble(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    notify("READY=1")


@pytest.mark.parametrize(
    ("environment", "interval_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 30.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "often"}, None),
    ],
    ids=["not asked", "asked", "asked of me", "asked of another", "nonsense"],
)
def test_the_watchdog_is_answered_twice_as_often_as_asked(
    environment: dict[str, str], interval_s: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WATCHDOG_USEC", "WATCHDOG_PID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert watchdog_interval_s() == interval_s


def test_ready_is_said_once_the_socket_answers_then_alive_then_stopping(
    manager: socket.socket, daemon_home: "DaemonHome"
) -> None:
    environment = daemon_home.env | {"NOTIFY_SOCKET": os.environ["NOTIFY_SOCKET"], "WATCHDOG_USEC": "200000"}
    process = subprocess.Popen([sys.executable, "-m", "flowd", "run"], env=environment)
    try:
        assert manager.recv(100) == b"READY=1"
        assert ask(daemon_home.paths.socket, "ping")["pid"] == process.pid
        assert manager.recv(100) == b"WATCHDOG=1"
        process.terminate()
        while (message := manager.recv(100)) != b"STOPPING=1":
            assert message == b"WATCHDOG=1"
        assert process.wait(DEADLINE_S) == 0
    finally:
        process.kill()
        process.wait(DEADLINE_S)
