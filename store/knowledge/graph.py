"""The knowledge graph's values: what is known, who said so, and how things hang together."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

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


# An older SQLite takes no more.
MAX_VALUES = 999
# Up to here each number of rows has a statement of its own.
ROWS_IN_ONE = 16


def write_rows(connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run *statement* with all *rows*, in their order, where it says ``{rows}``.

    Before each statement SQLite has the full-text index write out what it gathered, and after each
    row of ``executemany`` Python's lock is asked for again: both cost more than the row itself.
    """
    done = 0
    while done < len(rows):
        size = _size(len(rows) - done, MAX_VALUES // len(rows[0]))
        values = [value for row in rows[done : done + size] for value in row]
        connection.execute(_with_rows(statement, size, len(rows[0])), values)
        done += size


def _size(left: int, most: int) -> int:
    """Return how many rows to write now: one of few numbers, so that each statement is parsed once."""
    return left if left <= ROWS_IN_ONE else 1 << (min(left, most).bit_length() - 1)


@lru_cache(maxsize=64)
def _with_rows(statement: str, size: int, width: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.format(rows=", ".join([row] * size))
