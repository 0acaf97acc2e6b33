"""JSON schemas of what the tools take and give."""

from typing import Any

import msgspec

from flowd.store.thread_records import CLIENTS, ENTRY_TYPES

Schema = dict[str, Any]

HANDOFF_ID: Schema = {
    "type": "string",
    "description": "The handoff's id, hof_ and 21 more characters, exactly as the user pasted it.",
}
TITLE: Schema = {"type": "string", "description": "Short title for the session."}
PROJECT: Schema = {"type": "string", "description": "Project tag, for example 'dnd'. Informational only."}
CONTENT: Schema = {
    "type": "string",
    "description": "The message, at most 1 MB. The other side sees nothing else of this conversation.",
}
AS_CLIENT: Schema = {
    "type": "string",
    "enum": list(CLIENTS),
    "default": "chat",
    "description": "Who you are. Claude Code must pass 'code' on every call; every other client is 'chat'.",
}
ENTRY_TYPE: Schema = {
    "type": "string",
    "enum": list(ENTRY_TYPES),
    "description": (
        "context: background, decisions made, requirements. task: a work item to implement. "
        "progress: status of ongoing work. question: input needed from the other side. "
        "decision: the answer to a question. done: work completed, deliverable ready."
    ),
}
NOTE: Schema = {"type": "string", "description": "A hint about how the call was made."}


def taking(required: dict[str, Schema], optional: dict[str, Schema]) -> Schema:
    """Return the schema of an object with these properties."""
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def giving(result: type[msgspec.Struct]) -> Schema:
    """Return the schema of *result*, with the note that may come beside it."""
    _, parts = msgspec.json.schema_components([result], ref_template="#/$defs/{name}")
    root = parts.pop(result.__name__)
    root["properties"]["note"] = NOTE
    return {**root, "$defs": parts} if parts else root
