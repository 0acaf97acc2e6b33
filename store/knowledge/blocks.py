"""Handoff blocks in core.db: each is stored once; only the newest valid version of a block is applied."""

import sqlite3
from typing import Literal, NamedTuple

import msgspec

from flowd.model.block import FoundBlock
from flowd.store.database import Database
from flowd.store.knowledge.effects import apply_block, without
from flowd.store.knowledge.graph import Provenance, task_key
from flowd.store.knowledge.nodes import withdraw

Kept = Literal["applied", "replaced", "same", "older", "invalid"]

_BLOCK = """
insert into flow_blocks (project, identity, digest, task_key, task_id, task_name, outcome, body, raw,
    violations, session_id, file, line, at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SAME_ELSEWHERE = """
select number, file, session_id from flow_blocks
where project = ? and digest = ? and identity <> ? and body <> '' and (task_key = ? or file = '' or ? = '')
"""
# A block in a conversation is the draft of the one in the task's file.
_DRAFTS = """
select number from flow_blocks
where project = ? and task_key = ? and file = '' and at <= ? and identity <> ? and ? <> ''
"""
_encode = msgspec.json.Encoder().encode


class _Former(NamedTuple):
    number: int
    digest: str
    session_id: str
    at: float


def keep_block(database: Database, found: FoundBlock, place: Provenance) -> Kept:
    """Store *found*, which is redacted already, and apply it to the graph in one transaction."""
    with database.transaction() as connection:
        if found.block is None:
            return _store_invalid(connection, found, place)
        rows = connection.execute("select id from flow_forgotten where project = ?", (place.project,))
        block = without(found.block, {node_id for (node_id,) in rows})
        return _store_valid(connection, msgspec.structs.replace(found, block=block), place)


def identity_of(found: FoundBlock, place: Provenance) -> str:
    """Return an id that survives edits of the block: its position in a file, its task, or its record."""
    if place.file:
        return f"file:{place.file}#{found.ordinal}"
    if found.task.id:
        return f"task:{task_key(found.task.id)}#{found.ordinal}"
    return f"session:{place.session_id}:{place.record}#{found.ordinal}"


def task_key_of(found: FoundBlock, place: Provenance) -> str:
    """Return the task's id in the graph: its own, else the file's name, else the session."""
    if found.task.id:
        return task_key(found.task.id)
    stem = place.file.replace("\\", "/").rpartition("/")[2].partition(".")[0].casefold()
    return f"task-{'-'.join(stem.split())}" if stem else f"session-{place.session_id[:8]}"


def _store_valid(connection: sqlite3.Connection, found: FoundBlock, place: Provenance) -> Kept:
    identity, key = identity_of(found, place), task_key_of(found, place)
    former = _former(connection, place.project, identity)
    if former and former.digest == found.digest:
        return _seen_again(connection, former.number, former.session_id, place)
    if former and former.at > place.at:
        return "older"
    elsewhere = connection.execute(
        _SAME_ELSEWHERE, (place.project, found.digest, identity, key, place.file)
    ).fetchone()
    if elsewhere and (elsewhere[1] or not place.file):
        return _seen_again(connection, elsewhere[0], elsewhere[2], place)
    outdated = connection.execute(_DRAFTS, (place.project, key, place.at, identity, place.file)).fetchall()
    numbers = {number for (number,) in outdated} | ({former.number} if former else set())
    for number in numbers | ({elsewhere[0]} if elsewhere else set()):
        _remove(connection, number)
    connection.execute(
        "delete from flow_blocks where project = ? and identity = ?", (place.project, f"{identity}!")
    )
    source = f"block:{_insert(connection, found, place, identity, key)}"
    assert found.block is not None
    apply_block(
        connection, found.block, found.task, key, source, msgspec.structs.replace(place, line=found.line)
    )
    return "replaced" if numbers else "applied"


def _store_invalid(connection: sqlite3.Connection, found: FoundBlock, place: Provenance) -> Kept:
    """Store the errors of a block; its last valid version stays applied."""
    identity = f"{identity_of(found, place)}!"
    former = _former(connection, place.project, identity)
    if former and former.digest == found.digest:
        return "same"
    if former:
        _remove(connection, former.number)
    _insert(connection, found, place, identity, task_key_of(found, place))
    return "invalid"


def _former(connection: sqlite3.Connection, project: str, identity: str) -> _Former | None:
    row = connection.execute(
        "select number, digest, session_id, at from flow_blocks where project = ? and identity = ?",
        (project, identity),
    ).fetchone()
    return _Former(*row) if row else None


def _seen_again(connection: sqlite3.Connection, number: int, session_id: str, place: Provenance) -> Kept:
    if place.session_id and not session_id:  # the file was read before the session that wrote it
        connection.execute(
            "update flow_blocks set session_id = ? where number = ?", (place.session_id, number)
        )
        connection.execute(
            "update flow_mentions set session_id = ?, record = ? where source = ?",
            (place.session_id, place.record, f"block:{number}"),
        )
    return "same"


def _remove(connection: sqlite3.Connection, number: int) -> None:
    withdraw(connection, f"block:{number}")
    connection.execute("delete from flow_context_map where source = ?", (f"block:{number}",))
    connection.execute("delete from flow_blocks where number = ?", (number,))


def _insert(
    connection: sqlite3.Connection, found: FoundBlock, place: Provenance, identity: str, key: str
) -> int:
    body = _encode(found.block).decode() if found.block else ""
    outcome = found.block.outcome if found.block else ""
    cursor = connection.execute(
        _BLOCK,
        (
            *(place.project, identity, found.digest, key, found.task.id, found.task.name, outcome, body),
            *(found.text, _encode(found.violations).decode() if found.violations else ""),
            *(place.session_id, place.file, found.line, place.at),
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
