"""What systemd is told, on a socket like its own."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.actions.daemon_client import ask
from flowd.daemon.sd_notify import notify, watchdog_interval_s

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

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
