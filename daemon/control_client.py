"""Asking the daemon: one request, one answer, with a deadline."""

import socket
from pathlib import Path
from typing import Any

import msgspec

from flowd.config.errors import FlowdError, NotRunningError

DEADLINE_S = 5.0


def ask(path: Path, verb: str, *, deadline_s: float = DEADLINE_S, **arguments: Any) -> Any:
    """Return the daemon's answer to *verb*; raise NotRunningError when nobody answers at *path*."""
    request = msgspec.json.encode({"verb": verb, **arguments}) + b"\n"
    try:
        answer = _exchange(path, request, deadline_s)
    except TimeoutError:
        raise NotRunningError(
            f"flowd does not answer within {deadline_s:g} s at {path}",
            hint="it may be stopped or stuck: `flowd doctor`, then `flowd restart`",
        ) from None
    except OSError:
        raise NotRunningError("flowd is not running", hint="start it with `flowd start`") from None
    reply = msgspec.json.decode(answer, type=dict[str, Any])
    if not reply.get("ok"):
        raise FlowdError(str(reply.get("error")), hint=str(reply.get("hint", "")))
    return reply["result"]


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
