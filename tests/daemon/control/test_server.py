"""Answers that come later, to clients that may not have waited for them."""

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from flowd.daemon.control.listening import peer_uid
from flowd.daemon.control.server import ControlServer

DEADLINE_S = 10.0


@pytest.fixture
def path() -> Iterator[Path]:
    """A place for a socket, short enough for the kernel."""
    folder = Path(tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp"))
    yield folder / "flowd.sock"
    shutil.rmtree(folder)


def connected(path: Path) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(DEADLINE_S)
    client.connect(str(path))
    return client


def test_a_client_that_hangs_up_in_the_moment_of_its_answer_harms_nobody(path: Path) -> None:
    """Answer and hang-up are made ready in one round of the server, in the order that once ended it."""
    waiting: list[Callable[[bytes], None]] = []
    first_has_come = threading.Event()
    hasty: list[socket.socket] = []

    def later(_: Mapping[str, Any], answer: Callable[[bytes], None]) -> None:
        if not waiting:
            waiting.append(answer)
            first_has_come.set()
            return
        waiting[0](b"too late")
        hasty[0].close()
        answer(b"done")

    server = ControlServer(path, {}, deferred={"hook": later})
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        hasty.append(connected(path))
        hasty[0].sendall(b'{"verb":"hook"}\n')
        assert first_has_come.wait(DEADLINE_S)
        with connected(path) as patient:
            patient.sendall(b'{"verb":"hook"}\n')
            assert patient.recv(100) == b"done"
        with connected(path) as after:
            after.sendall(b'{"verb":"hook"}\n')
            assert after.recv(100) == b"done"
        assert thread.is_alive()
    finally:
        server.close()
        thread.join(DEADLINE_S)


def test_the_peer_of_a_socket_is_known_by_its_user(as_nobody: Callable[[Callable[[], int]], int]) -> None:
    """The other end may be another user, who is told by the kernel and not by the client."""
    folder = Path(tempfile.mkdtemp(prefix="flowd-test-", dir="/tmp"))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        folder.chmod(0o755)
        listener.bind(str(folder / "s"))
        (folder / "s").chmod(0o777)
        listener.listen()
        with connected(folder / "s"):
            own, _ = listener.accept()
            with own:
                assert peer_uid(own) == os.getuid()

        def connect() -> int:
            with connected(folder / "s"):
                return 0

        assert as_nobody(connect) == 0
        other, _ = listener.accept()
        with other:
            assert peer_uid(other) == 65534
    finally:
        listener.close()
        shutil.rmtree(folder)


def test_both_ends_of_a_socket_pair_belong_to_this_user() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert (peer_uid(one), peer_uid(other)) == (os.getuid(), os.getuid())
