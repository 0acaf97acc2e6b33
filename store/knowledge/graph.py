"""The values of the knowledge graph: nodes, their mentions, and edges."""

from typing import Literal

import msgspec

NodeType = Literal["task", "decision", "pattern", "gotcha", "insight"]
NODE_TYPES: tuple[NodeType, ...] = ("task", "decision", "pattern", "gotcha", "insight")

# What an agent wrote into a block counts more than what was extracted from a conversation.
BLOCK_WEIGHT = 1.0
IMPORT_WEIGHT = 0.8
EXTRACTION_WEIGHT = 0.5
# A task that is only referred to: any mention of its own replaces this one.
REFERENCE_WEIGHT = 0.1


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """The origin of a mention: session, record or file, line, time."""

    project: str
    session_id: str = ""
    record: str = ""
    file: str = ""
    line: int = 0
    at: float = 0.0


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """The text of one source about one node; it is removed together with its ``source``."""

    source: str
    node: str
    type: NodeType
    summary: str
    provenance: Provenance
    weight: float
    detail: str = ""
    tags: tuple[str, ...] = ()
    location: str = ""
    severity: str = ""
    status: str = ""
    given_id: str = ""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """The mentions of one meaning as one node, with the text of the heaviest, then newest mention."""

    project: str
    id: str
    type: NodeType
    summary: str
    detail: str = ""
    tags: tuple[str, ...] = ()
    file: str = ""
    severity: str = ""
    status: str = ""
    given_id: str = ""
    weight: float = 0.0
    mentions: int = 0
    pinned: bool = False
    created_at: float = 0.0
    seen_at: float = 0.0


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A relation between two nodes: a task ``discovered`` a pattern, a task ``blocks`` a task."""

    project: str
    from_id: str
    to_id: str
    kind: str


def task_key(task_id: str) -> str:
    """Return the id of a task in the graph: `004` and `task-004` are the same task."""
    key = task_id.strip().casefold()
    return f"task-{key}" if key.isdecimal() else key
