"""Client of an Agent Mail server: JSON-RPC over HTTP, with a deadline for each call."""

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from flowd.system.errors import FlowdError

if TYPE_CHECKING:
    import http.client

TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 4_000_000
DEFAULT_PATH = "/mcp/"
OK, SERVER_ERROR = 200, 500


class MailError(FlowdError):
    """The server answered with an error."""


class NoServerError(FlowdError):
    """The server cannot be reached or does not answer in time."""


class AgentMailClient:
    """Calls the tools of one Agent Mail server."""

    def __init__(self, url: str, bearer: str = "") -> None:
        self._url = urlsplit(url)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if bearer:
            self._headers["Authorization"] = f"Bearer {bearer}"

    def call(self, tool: str, **arguments: object) -> Any:
        """Return the result of *tool*; raise MailError if it fails, NoServerError without a server."""
        from http.client import HTTPException  # it imports TLS, which a daemon without mail does not need

        parameters = {"name": tool, "arguments": arguments}
        request = {"jsonrpc": "2.0", "id": "1", "method": "tools/call", "params": parameters}
        try:
            status, data = self._exchange(msgspec.json.encode(request))
        except (OSError, HTTPException, ValueError) as error:
            raise NoServerError(
                f"Agent Mail cannot be reached: {str(error) or type(error).__name__}"
            ) from error
        if status != OK:
            raise (NoServerError if status >= SERVER_ERROR else MailError)(
                f"Agent Mail returned HTTP {status} for {tool}"
            )
        return _value(tool, data)

    def _exchange(self, body: bytes) -> tuple[int, bytes]:
        connection = self._connection()
        connection.connect()
        # The timeout of a socket applies to each read; this timer limits the whole response.
        timer = threading.Timer(TIMEOUT_S, _shut_down, [connection.sock])
        timer.start()
        try:
            connection.request("POST", self._url.path or DEFAULT_PATH, body, self._headers)
            response = connection.getresponse()
            return response.status, response.read(MAX_RESPONSE_BYTES)
        finally:
            timer.cancel()
            connection.close()

    def _connection(self) -> "http.client.HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        kinds: dict[str, type[HTTPConnection]] = {"http": HTTPConnection, "https": HTTPSConnection}
        if self._url.scheme not in kinds or not self._url.hostname:
            raise ValueError("agent_mail.url is not an http address")
        return kinds[self._url.scheme](self._url.hostname, self._url.port, timeout=TIMEOUT_S)


def _shut_down(connected: socket.socket) -> None:
    with suppress(OSError):
        connected.shutdown(socket.SHUT_RDWR)


def _value(tool: str, data: bytes) -> Any:
    response = _object(data)
    error, result = response.get("error"), response.get("result")
    if isinstance(error, dict):
        raise MailError(f"{tool}: {error.get('message')}")
    if not isinstance(result, dict):
        raise MailError(f"{tool}: the response has no result")
    text = "\n".join(
        str(part.get("text", "")) for part in result.get("content", ()) if isinstance(part, dict)
    )
    if result.get("isError"):
        raise MailError(f"{tool}: {text}")
    value = result.get("structuredContent")
    if value is None:
        with suppress(msgspec.DecodeError):
            value = msgspec.json.decode(text)
    return value["result"] if isinstance(value, dict) and set(value) == {"result"} else value


def _object(data: bytes) -> dict[str, Any]:
    """Parse the JSON object in *data*, which may be the last event of a stream."""
    events = [line[5:] for line in data.splitlines() if line.startswith(b"data:")]
    try:
        value = msgspec.json.decode(events[-1] if events else data)
    except msgspec.DecodeError as error:
        raise MailError("Agent Mail's response is not JSON") from error
    return value if isinstance(value, dict) else {}
