"""One call to an Agent Mail server: JSON-RPC over HTTP, three seconds, and errors that look like answers."""

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from flowd.system.errors import FlowdError

if TYPE_CHECKING:
    import http.client

LIMIT_S = 3.0
ANSWER_BYTES = 4_000_000
DEFAULT_PATH = "/mcp/"
OK, SERVER_TROUBLE = 200, 500


class MailError(FlowdError):
    """The server answered, and said no."""


class NoServerError(FlowdError):
    """No answer could be had from the server."""


class AgentMailClient:
    """Calls the tools of one server."""

    def __init__(self, url: str, bearer: str = "") -> None:
        self._url = urlsplit(url)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if bearer:
            self._headers["Authorization"] = f"Bearer {bearer}"

    def call(self, tool: str, **arguments: object) -> Any:
        """Return what *tool* answers; raise MailError where it refuses, NoServerError where there is none."""
        from http.client import HTTPException  # with it comes TLS, which a daemon without mail need not carry

        parameters = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": parameters}
        try:
            status, data = self._exchange(msgspec.json.encode(request))
        except (OSError, HTTPException, ValueError) as error:
            raise NoServerError(
                f"Agent Mail does not answer: {str(error) or type(error).__name__}"
            ) from error
        if status != OK:
            raise (NoServerError if status >= SERVER_TROUBLE else MailError)(
                f"Agent Mail answers {status} to {tool}"
            )
        return _value(tool, data)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        connection = self._connection()
        connection.connect()
        # A socket's own limit is for each read; this one is for the whole answer.
        limit = threading.Timer(LIMIT_S, _cut, [connection.sock])
        limit.start()
        try:
            connection.request("POST", self._url.path or DEFAULT_PATH, body, self._headers)
            response = connection.getresponse()
            return response.status, response.read(ANSWER_BYTES)
        finally:
            limit.cancel()
            connection.close()

    def _connection(self) -> "http.client.HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        kinds: dict[str, type[HTTPConnection]] = {"http": HTTPConnection, "https": HTTPSConnection}
        if self._url.scheme not in kinds or not self._url.hostname:
            raise ValueError("agent_mail.url is no http address")
        return kinds[self._url.scheme](self._url.hostname, self._url.port, timeout=LIMIT_S)


def _cut(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _value(tool: str, data: bytes) -> Any:
    answer = _object(data)
    error, result = answer.get("error"), answer.get("result")
    if isinstance(error, dict):
        raise MailError(f"{tool}: {error.get('message')}")
    if not isinstance(result, dict):
        raise MailError(f"{tool}: the answer is no result")
    text = "\n".join(
        str(part.get("text", "")) for part in result.get("content", ()) if isinstance(part, dict)
    )
    if result.get("isError"):
        raise MailError(f"{tool}: {text}")
    told = result.get("structuredContent")
    if told is None:
        with suppress(msgspec.DecodeError):
            told = msgspec.json.decode(text)
    return told["result"] if isinstance(told, dict) and set(told) == {"result"} else told


def _object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in *data*, which may come as the last event of a stream."""
    events = [line[5:] for line in data.splitlines() if line.startswith(b"data:")]
    try:
        answer = msgspec.json.decode(events[-1] if events else data)
    except msgspec.DecodeError as error:
        raise MailError("Agent Mail's answer is no JSON") from error
    return answer if isinstance(answer, dict) else {}
