"""An Agent Mail server for tests: real HTTP, and answers like those of the real one."""

import json
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TAKEN_NAMES = ("TopazHill", "AmberBrook", "SilverPine")


class RefusedError(Exception):
    """What a tool answers with isError."""


class StandInServer:
    """Knows agents of one project; ``mood`` makes it misbehave: "500", "silent", "rubbish", "stream".

    With "no tokens" it is an older one: it gives none out, and refuses arguments that it does not know.
    """

    def __init__(self) -> None:
        self.bearer = ""
        self.mood = ""
        self.projects: set[str] = set()
        self.tokens: dict[str, str] = {}
        self.open: set[str] = set()
        self.messages: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.released = threading.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp/"

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        tool, arguments = request["params"]["name"], request["params"]["arguments"]
        self.calls.append((tool, arguments))
        try:
            if self.mood == "no tokens" and (
                unknown := [name for name in arguments if name.endswith("token")]
            ):
                raise RefusedError(f"{unknown[0]}: Unexpected keyword argument")
            value = self._tool(tool)(**arguments)
        except RefusedError as error:
            text = f"Error calling tool '{tool}': {error}"
            return self._result(request, {"content": [{"type": "text", "text": text}], "isError": True})
        content = [{"type": "text", "text": json.dumps(value)}]
        structured = {"result": value} if isinstance(value, list) else value
        return self._result(request, {"content": content, "structuredContent": structured, "isError": False})

    def _result(self, request: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    def _tool(self, name: str) -> Any:
        known = {"ensure_project", "register_agent", "send_message", "set_contact_policy", "fetch_inbox"}
        if name not in known:
            raise RefusedError(f"Unknown tool: {name}")
        return getattr(self, name)

    def ensure_project(self, human_key: str) -> dict[str, Any]:
        if not human_key.startswith("/"):
            raise RefusedError(
                f"Invalid argument value: human_key must be an absolute directory path, got: {human_key!r}"
            )
        self.projects.add(human_key)
        return {"id": 1, "slug": human_key.strip("/").replace("/", "-"), "human_key": human_key}

    def register_agent(self, project_key: str, name: str, **fields: str) -> dict[str, Any]:
        if project_key not in self.projects:
            raise RefusedError(f"Project '{project_key}' not found")
        if not re.fullmatch(r"([A-Z][a-z]+){2}", name):
            name = next(free for free in TAKEN_NAMES if free not in self.tokens)
        if name in self.tokens and fields.get("registration_token") != self.tokens[name]:
            raise RefusedError(f"Agent '{name}' is registered; its registration_token is required.")
        token = self.tokens.setdefault(name, secrets.token_hex(8))
        return {
            "id": len(self.tokens),
            "name": name,
            "program": fields["program"],
        } | ({} if self.mood == "no tokens" else {"registration_token": token})

    def set_contact_policy(
        self, project_key: str, agent_name: str, policy: str, registration_token: str
    ) -> dict[str, Any]:
        self._prove(agent_name, registration_token)
        self.open.add(agent_name)
        return {"agent": agent_name, "policy": policy}

    def send_message(
        self, project_key: str, sender_name: str, to: list[str], **fields: Any
    ) -> dict[str, Any]:
        given = fields.pop("sender_token", "")
        if self.tokens.get(sender_name) is None or (
            self.mood != "no tokens" and given != self.tokens[sender_name]
        ):
            raise RefusedError(f"send_message requires sender_token for agent '{sender_name}'.")
        for name in to:
            if name not in self.tokens:
                raise RefusedError(
                    f"Unable to send message — local recipients {name} are not registered in {project_key}"
                )
            if name not in self.open and self.mood != "no tokens":
                raise RefusedError(f"Contact approval required for recipients: {name}.")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fields["thread_id"]):
            raise RefusedError(f"Invalid thread_id: {fields['thread_id']!r}.")
        payload = {
            "id": len(self.messages) + 1,
            "from": sender_name,
            "to": to,
            "created_ts": datetime.now(UTC).isoformat(),
        }
        self.messages.append(payload | fields)
        return {"deliveries": [{"project": project_key, "payload": payload | fields}], "count": 1}

    def fetch_inbox(
        self, project_key: str, agent_name: str, registration_token: str = "", **_: Any
    ) -> list[Any]:
        self._prove(agent_name, registration_token)
        return [message for message in reversed(self.messages) if agent_name in message["to"]]

    def _prove(self, name: str, token: str) -> None:
        if self.mood != "no tokens" and self.tokens.get(name) != token:
            raise RefusedError(f"registration_token required for agent '{name}'.")


def _handler(server: StandInServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if server.mood == "silent":
                self._dribble()
                return
            if server.bearer and self.headers.get("Authorization") != f"Bearer {server.bearer}":
                self._reply(401, b"{}")
            elif server.mood == "500":
                self._reply(500, b"oops")
            elif server.mood == "rubbish":
                self._reply(200, b"<html>")
            else:
                answer = json.dumps(server.answer(json.loads(body))).encode()
                stream = server.mood == "stream"
                self._reply(200, b"event: message\ndata: " + answer + b"\n\n" if stream else answer)

        def _reply(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _dribble(self) -> None:
            """Say one letter at a time, so that no single read takes long."""
            try:
                while not server.released.wait(0.1):
                    self.wfile.write(b"X")
                    self.wfile.flush()
                    time.sleep(0)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            """Keep silent."""

    return Handler


@contextmanager
def running_server() -> Iterator[StandInServer]:
    """Serve until the test ends."""
    server = StandInServer()
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        http.shutdown()
        thread.join()
        http.server_close()
