"""The knowledge graph's values: what is known, who said so, and how things hang together."""

from typing import Literal

import msgspec

NodeType = Literal["task", "decision", "pattern", "gotcha", "insight"]
NODE_TYPES: tuple[NodeType, ...] = ("task", "decision", "pattern", "gotcha", "insight")

# What an agent wrote down for the next one counts more than what was read between the lines.
BLOCK_WEIGHT = 1.0
IMPORT_WEIGHT = 0.8
EXTRACTION_WEIGHT = 0.5
# A task that others only name: any word of its own replaces this.
HEARSAY_WEIGHT = 0.1


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where something was said: which session, which record or file, which line, when."""

    project: str
    session_id: str = ""
    record: str = ""
    file: str = ""
    line: int = 0
    at: float = 0.0


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """One source's wording of one node. ``source`` is who takes it back, if it is taken back."""

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
    """What all mentions of one meaning amount to: the weightiest, then newest, wording of it."""

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
    """One node's relation to another: a task ``discovered`` a pattern, a task ``blocks`` a task."""

    project: str
    from_id: str
    to_id: str
    kind: str


def task_key(task_id: str) -> str:
    """Return the one name of a task that its file calls `004` and its neighbours `task-004`."""
    key = task_id.strip().casefold()
    return f"task-{key}" if key.isdecimal() else key
