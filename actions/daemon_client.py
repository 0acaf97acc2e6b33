"""Client of the control socket: one request, one answer, with a deadline."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from flowd.config.paths import Paths, resolve_paths
from flowd.system.errors import FlowdError, NotRunningError
from flowd.system.locks import is_locked

DEADLINE_S = 5.0


class Holder(msgspec.Struct, frozen=True):
    """The daemon that holds the lock, as it describes itself in the lock file."""

    pid: int
    version: str
    socket: str
    started_at: float


def ask(path: Path, verb: str, *, deadline_s: float = DEADLINE_S, **arguments: Any) -> Any:
    """Return the daemon's answer to *verb*; raise NotRunningError if nothing answers at *path*."""
    request = msgspec.json.encode({"verb": verb, **arguments}) + b"\n"
    try:
        answer = _exchange(path, request, deadline_s)
    except TimeoutError:
        raise NotRunningError(
            f"flowd did not answer within {deadline_s:g} s at {path}",
            hint="it may be suspended or stuck: run `flowd doctor`, then `flowd restart`",
        ) from None
    except OSError:
        raise NotRunningError("flowd is not running", hint="start it with `flowd start`") from None
    reply = msgspec.json.decode(answer, type=dict[str, Any])
    if not reply.get("ok"):
        raise FlowdError(str(reply.get("error")), hint=str(reply.get("hint", "")))
    return reply["result"]


def ask_running(paths: Paths, verb: str, *, deadline_s: float = DEADLINE_S, **arguments: Any) -> Any:
    """Return the answer of the daemon that holds the lock of *paths*; raise NotRunningError as `ask` does.

    A daemon that runs and does not answer is not called stopped: starting it would change nothing.
    """
    socket = control_socket(paths)
    try:
        return ask(socket, verb, deadline_s=deadline_s, **arguments)
    except NotRunningError as error:
        holder = running_holder(paths.lock)
        if holder is None:
            raise
        what = f"flowd runs (pid {holder.pid}) but does not answer at {socket}"
        raise NotRunningError(what, hint="run `flowd restart`") from error


def running_holder(path: Path) -> Holder | None:
    """Return the holder of the lock at *path*, or None if it is free."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return read_holder(path) if is_locked(descriptor) else None
    finally:
        os.close(descriptor)


def control_socket(paths: Paths) -> Path:
    """Return the socket of the running daemon, which may have been started in another environment."""
    holder = read_holder(paths.lock)
    return Path(holder.socket) if holder else paths.socket


def read_holder(path: Path) -> Holder | None:
    """Return the holder described in the lock file at *path*, or None without a readable description."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def poke_daemon(paths: Paths | None = None) -> bool:
    """Have a running daemon process what was just written; return True if there is one."""
    with suppress(FlowdError):
        ask(control_socket(paths or resolve_paths()), "poke", deadline_s=1.0)
        return True
    return False


def _exchange(path: Path, request: bytes, deadline_s: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(deadline_s)
        connection.connect(str(path))
        connection.sendall(request)
        answer = bytearray()
        while not answer.endswith(b"\n"):
            received = connection.recv(1 << 16)
            if not received:
                raise ConnectionError("closed before the answer was complete")
            answer += received
        return bytes(answer)
