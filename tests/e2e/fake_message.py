"""What the scripted model answers, in the API's own shapes."""

import json
import re
import threading
import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

PLAN_FILE = re.compile(r"/[\w./-]+/plans/[\w-]+\.md")


class Say(NamedTuple):
    """The model answers with text and ends its turn. ``tokens`` is the usage it reports."""

    text: str
    tokens: int | None = None


class Use(NamedTuple):
    """The model calls a tool. ``tokens`` is the usage it reports."""

    tool: str
    arguments: dict[str, Any]
    tokens: int | None = None


class WritePlan(NamedTuple):
    """The model writes its plan into the file that the client names for it."""

    plan: str
    tokens: int | None = None

    def as_use(self, asked: str) -> Use:
        """Return the call of the tool, with the file that *asked* names."""
        named = PLAN_FILE.search(asked)
        return Use("Write", {"file_path": named.group(0) if named else "plan.md", "content": self.plan})


class Fail(NamedTuple):
    """The API answers with an error."""

    status: int
    message: str = "scripted failure"


class Hold(NamedTuple):
    """The API keeps the client waiting until the test lets it go, and then hangs up."""

    released: threading.Event


Answered = Say | Use | Fail | Hold
Step = Answered | WritePlan


def as_message(step: Say | Use, model: str | None, tokens: int) -> dict[str, Any]:
    """Return *step* as the API's message."""
    if isinstance(step, Use):
        block = {
            "type": "tool_use",
            "id": f"toolu_{uuid.uuid4().hex}",
            "name": step.tool,
            "input": step.arguments,
        }
    else:
        block = {"type": "text", "text": step.text}
    return {
        "id": f"msg_{uuid.uuid4().hex}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": "tool_use" if isinstance(step, Use) else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 10,
        },
    }


def as_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events by which *message* is streamed."""
    (block,) = message["content"]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "text": ""}}
        delta = {"type": "text_delta", "text": block["text"]}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}
