"""The socket stays where clients look for it, and running out of descriptors costs no processor time."""

import os
import resource
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.daemon.control.server import ControlServer
from flowd.system.errors import FlowdError
from tests.support.waiting import wait_until


class Served:
    """A control server in a thread."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.server = ControlServer(path, {"ping": lambda _: "pong"})
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()

    def ping(self) -> bytes:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(30.0)
            client.connect(str(self.path))
            client.sendall(b'{"verb":"ping"}\n')
            return client.recv(100)

    def beat(self) -> None:
        """Have the server see to its place."""
        beaten = threading.Event()
        self.server.request_beat(beaten.set)
        assert beaten.wait(30.0)


@pytest.fixture
def served() -> Iterator[Served]:
    folder = Path(tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp"))
    served = Served(folder / "flowd.sock")
    yield served
    served.server.close()
    served.thread.join(30.0)
    shutil.rmtree(folder)


def test_a_removed_socket_is_made_again(served: Served) -> None:
    served.path.unlink()
    served.beat()
    wait_until(served.path.exists)
    assert b"pong" in served.ping()


def test_a_replaced_socket_is_made_again(served: Served) -> None:
    served.path.unlink()
    served.path.touch()
    served.beat()
    wait_until(served.path.is_socket)
    assert b"pong" in served.ping()


def test_a_socket_that_answers_is_not_taken_over(served: Served) -> None:
    with pytest.raises(FlowdError, match="another flowd answers at"):
        ControlServer(served.path, {})
    assert b"pong" in served.ping()


def test_another_daemon_s_socket_is_left_alone_at_the_end(served: Served) -> None:
    served.path.unlink()
    other = Served(served.path)
    served.server.close()
    served.thread.join(30.0)
    assert b"pong" in other.ping()
    other.server.close()
    other.thread.join(30.0)


def test_without_descriptors_it_waits_instead_of_spinning(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that cannot be accepted stays in the queue; the selector would report it again and again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    accepts = []
    pause = served.server._pause_accepting

    def counted() -> None:
        accepts.append(1)
        pause()

    monkeypatch.setattr(served.server, "_pause_accepting", counted)
    highest = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 1, hard))
    taken = []
    try:
        while True:
            try:
                taken.append(os.dup(0))
            except OSError:
                break
        waiting.connect(str(served.path))
        wait_until(lambda: accepts)
        before, started = time.process_time(), time.monotonic()
        wait_until(lambda: len(accepts) >= 3)
        spent, passed = time.process_time() - before, time.monotonic() - started
        assert len(accepts) <= 4 + passed * 3
        assert spent < passed / 2
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)
        waiting.close()
    assert b"pong" in served.ping()
