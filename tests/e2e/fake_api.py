"""A stand-in for the Messages API on loopback: the test scripts its answers and reads what it was asked."""

import json
import re
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.e2e.fake_message import Answered, Fail, Hold, Say, Step, WritePlan, as_events, as_message

COMPACTION_WORDS = ("create a detailed summary of",)
COMPACT_SUMMARY = (
    "<analysis>scripted</analysis>\n<summary>\nScripted summary of the conversation.\n</summary>"
)
PLAIN_REPLY = "Nothing more was scripted."
HOLD_DEADLINE_S = 120
SESSION_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SECRET_HEADERS = frozenset({"authorization", "x-api-key", "cookie"})


class Asked(NamedTuple):
    """One request the client made, without its credentials."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def is_compaction(self) -> bool:
        """Whether the client asks for a summary of the conversation."""
        tail = json.dumps(self.body.get("messages", [])[-3:])
        return any(words in tail for words in COMPACTION_WORDS)

    @property
    def is_warm_up(self) -> bool:
        """Whether a client 2.0 only makes the cache of a subagent's prompt ready."""
        return '"Warmup"' in json.dumps(self.body.get("messages", [])[:1])

    @property
    def is_turn(self) -> bool:
        """Whether this is a turn of the conversation, with tools at hand, and no side errand."""
        return bool(self.body.get("tools")) and not self.is_compaction and not self.is_warm_up

    @property
    def session_id(self) -> str:
        """The session that asks: clients name it in what they say of the user, or in a header."""
        header = self.headers.get("x-claude-code-session-id", "")
        user = str((self.body.get("metadata") or {}).get("user_id", ""))
        found = SESSION_ID.findall(user)
        return header or (found[-1] if found else "")

    def count(self, text: str) -> int:
        """Return how often *text* stands in what the client sent."""
        return json.dumps(self.body, ensure_ascii=False).count(text)


class FakeApi:
    """Listens on loopback. Use as a context manager."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._script: deque[Step] = deque()
        self._guard = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "FakeApi":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    @property
    def url(self) -> str:
        """What ANTHROPIC_BASE_URL should be."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, *steps: Step) -> None:
        """Let the model's next answers be *steps*, one for each turn it is asked for."""
        with self._guard:
            self._script.extend(steps)

    def turns(self) -> list[Asked]:
        """Return the turns of the conversation so far."""
        with self._guard:
            return [each for each in self.asked if each.is_turn]

    def turns_after_compaction(self) -> list[Asked]:
        """Return the turns that the client asked for after it had its last summary."""
        with self._guard:
            last = max(place for place, each in enumerate(self.asked) if each.is_compaction)
            return [each for each in self.asked[last:] if each.is_turn]

    def saw(self, text: str) -> bool:
        """Say whether *text* ever reached the model."""
        with self._guard:
            return any(each.count(text) for each in self.asked)

    def answer(self, asked: Asked) -> Answered:
        """Return the answer to *asked*: a summary, the next step of the script, or something harmless."""
        with self._guard:
            self.asked.append(asked)
            if asked.is_compaction:
                return Say(COMPACT_SUMMARY, tokens=1000)
            if asked.is_turn and self._script:
                step = self._script.popleft()
                return step.as_use(json.dumps(asked.body)) if isinstance(step, WritePlan) else step
        return Say(PLAIN_REPLY)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        api = self

        class Handler(_Handler):
            fake_api = api

        return Handler


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fake_api: FakeApi

    def do_GET(self) -> None:
        self._send_json(200, {"data": [], "has_more": False})

    def do_HEAD(self) -> None:
        self._send_json(200, {})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.split("?")[0].endswith("/count_tokens"):
            return self._send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        asked = Asked(self.path, self._kept_headers(), json.loads(raw or b"{}"))
        step = self.fake_api.answer(asked)
        if isinstance(step, Hold):
            step.released.wait(HOLD_DEADLINE_S)
            self.close_connection = True
            return None
        if isinstance(step, Fail):
            error = {"type": "api_error", "message": step.message}
            return self._send_json(step.status, {"type": "error", "error": error})
        message = as_message(step, asked.body.get("model"), step.tokens or max(1, len(raw) // 4))
        if asked.body.get("stream"):
            return self._send_stream(message)
        return self._send_json(200, message)

    def log_message(self, *_: object) -> None:
        """Say nothing: the test reads what was asked."""

    def _kept_headers(self) -> dict[str, str]:
        return {
            name.lower(): value for name, value in self.headers.items() if name.lower() not in SECRET_HEADERS
        }

    def _send_json(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _send_stream(self, message: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        for event in as_events(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
