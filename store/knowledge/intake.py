"""Write handoff blocks into the knowledge graph, and keep those that came with a repository apart."""

import sqlite3
from collections.abc import Container, Iterable
from typing import Literal, NamedTuple

import msgspec

from flowd.model.block import FoundBlock, HandoffBlock, TaskRef, Violation
from flowd.store.database import Database
from flowd.store.knowledge.effects import apply_block, without
from flowd.store.knowledge.graph import (
    FOREIGN_WEIGHT,
    NodeKey,
    Provenance,
    task_key,
    update_nodes,
    withdraw,
    wordings_of,
)

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
# What the identity of a block ends with that came with a repository and is not accepted: it stands beside the
# version that counts, if there is one.
FOREIGN_MARK = "?"
_encode = msgspec.json.Encoder().encode


class ForeignBlock(NamedTuple):
    """A block of a task file that came with the repository and is not accepted."""

    number: int
    digest: str
    file: str
    body: str


_violations = msgspec.json.Decoder(tuple[Violation, ...]).decode


class _Former(NamedTuple):
    number: int
    digest: str
    session_id: str
    at: float


def keep_block(
    database: Database, found: FoundBlock, origin: Provenance, *, accepted: Container[str] | None = None
) -> Kept:
    """Store *found*, which is redacted already, and apply it to the graph in one transaction.

    With *accepted* a block that no session wrote is foreign unless its digest is one of them.
    """
    is_foreign = accepted is not None and not origin.session_id and found.digest not in accepted
    with database.transaction() as connection:
        if found.block is None:
            return _store_invalid(connection, found, origin, is_foreign=is_foreign)
        rows = connection.execute("select id from flow_forgotten where project = ?", (origin.project,))
        block = without(found.block, {node_id for (node_id,) in rows})
        found = msgspec.structs.replace(found, block=block)
        return _store_valid(connection, found, origin, is_foreign=is_foreign)


def foreign_blocks(database: Database, project: str) -> list[ForeignBlock]:
    """Return the blocks of *project* that are not accepted, by file."""
    with database.reading() as connection:
        rows = connection.execute(
            "select number, digest, file, body from flow_blocks "
            "where project = ? and body <> '' and identity like ? order by file, line",
            (project, f"%{FOREIGN_MARK}"),
        ).fetchall()
    return [ForeignBlock(*row) for row in rows]


def accept_blocks(database: Database, blocks: Iterable[ForeignBlock]) -> None:
    """Apply *blocks* as if they had been written on this machine."""
    with database.transaction() as connection:
        for block in blocks:
            _promote(connection, block.number)


def identity_of(found: FoundBlock, origin: Provenance) -> str:
    """Return an id that survives edits of the block: its position in a file, its task, or its record."""
    if origin.file:
        return f"file:{origin.file}#{found.ordinal}"
    if found.task.id:
        return f"task:{task_key(found.task.id)}#{found.ordinal}"
    return f"session:{origin.session_id}:{origin.record}#{found.ordinal}"


def task_key_of(found: FoundBlock, origin: Provenance) -> str:
    """Return the task's id in the graph: its own, else the file's name, else the session."""
    if found.task.id:
        return task_key(found.task.id)
    stem = origin.file.replace("\\", "/").rpartition("/")[2].partition(".")[0].casefold()
    return f"task-{'-'.join(stem.split())}" if stem else f"session-{origin.session_id[:8]}"


def mark_foreign_blocks(connection: sqlite3.Connection) -> None:
    """Make every block of a task file foreign that no session is known to have written."""
    rows = connection.execute(
        "select number from flow_blocks where session_id = '' and file <> '' and body <> '' "
        "and identity not like ?",
        (f"%{FOREIGN_MARK}",),
    ).fetchall()
    for (number,) in rows:
        source = f"block:{number}"
        connection.execute(
            "update flow_blocks set identity = identity || ? where number = ?", (FOREIGN_MARK, number)
        )
        connection.execute("update flow_mentions set weight = ? where source = ?", (FOREIGN_WEIGHT, source))
        nodes = connection.execute(
            "select project, node from flow_mentions where source = ?", (source,)
        ).fetchall()
        update_nodes(connection, wordings_of(connection, (NodeKey(*node) for node in nodes)))


def _store_valid(
    connection: sqlite3.Connection, found: FoundBlock, origin: Provenance, *, is_foreign: bool
) -> Kept:
    identity, key = identity_of(found, origin), task_key_of(found, origin)
    former = _former(connection, origin.project, identity)
    if former and former.digest == found.digest:
        _remove_foreign(connection, origin.project, identity)
        return _seen_again(connection, former.number, former.session_id, origin)
    if is_foreign and not _is_known_here(connection, found, origin):
        return _store_foreign(connection, found, origin, identity + FOREIGN_MARK, key)
    if former and former.at > origin.at:
        return "older"
    elsewhere = connection.execute(
        _SAME_ELSEWHERE, (origin.project, found.digest, identity, key, origin.file)
    ).fetchone()
    if elsewhere and (elsewhere[1] or not origin.file):
        return _seen_again(connection, elsewhere[0], elsewhere[2], origin)
    _remove_foreign(connection, origin.project, identity)
    outdated = connection.execute(_DRAFTS, (origin.project, key, origin.at, identity, origin.file)).fetchall()
    numbers = {number for (number,) in outdated} | ({former.number} if former else set())
    for number in numbers | ({elsewhere[0]} if elsewhere else set()):
        _remove(connection, number)
    connection.execute(
        "delete from flow_blocks where project = ? and identity = ?", (origin.project, f"{identity}!")
    )
    source = f"block:{_insert(connection, found, origin, identity, key)}"
    assert found.block is not None
    apply_block(
        connection, found.block, found.task, key, source, msgspec.structs.replace(origin, line=found.line)
    )
    return "replaced" if numbers else "applied"


def _store_foreign(
    connection: sqlite3.Connection, found: FoundBlock, origin: Provenance, identity: str, key: str
) -> Kept:
    """Store a block beside the version that counts, which stays as it is."""
    former = _former(connection, origin.project, identity)
    if former and former.digest == found.digest:
        return "same"
    if former:
        _remove(connection, former.number)
    source = f"block:{_insert(connection, found, origin, identity, key)}"
    assert found.block is not None
    place = msgspec.structs.replace(origin, line=found.line)
    apply_block(connection, found.block, found.task, key, source, place, is_foreign=True)
    return "replaced" if former else "applied"


def _is_known_here(connection: sqlite3.Connection, found: FoundBlock, origin: Provenance) -> bool:
    """Return True if exactly this block is known already as one of this machine."""
    row = connection.execute(
        "select 1 from flow_blocks where project = ? and digest = ? and body <> '' and identity not like ?",
        (origin.project, found.digest, f"%{FOREIGN_MARK}"),
    ).fetchone()
    return row is not None


def _promote(connection: sqlite3.Connection, number: int) -> None:
    """Have a foreign block count, in the place of the version that counted before."""
    row = connection.execute(
        "select project, identity, task_key, task_id, task_name, body, session_id, file, line, at "
        "from flow_blocks where number = ?",
        (number,),
    ).fetchone()
    if row is None or not row[1].endswith(FOREIGN_MARK):
        return
    project, identity, key, task_id, task_name, body, session_id, file, line, at = row
    identity = identity.removesuffix(FOREIGN_MARK)
    if former := _former(connection, project, identity):
        _remove(connection, former.number)
    withdraw(connection, f"block:{number}")
    connection.execute("update flow_blocks set identity = ? where number = ?", (identity, number))
    origin = Provenance(project=project, session_id=session_id, file=file, line=line, at=at)
    block = msgspec.json.decode(body, type=HandoffBlock)
    task = TaskRef(id=task_id, name=task_name)
    apply_block(connection, block, task, key, f"block:{number}", origin)


def _remove_foreign(connection: sqlite3.Connection, project: str, identity: str) -> None:
    """Delete the foreign version of a block: what its file says now is of this machine."""
    if foreign := _former(connection, project, identity + FOREIGN_MARK):
        _remove(connection, foreign.number)


def _store_invalid(
    connection: sqlite3.Connection, found: FoundBlock, origin: Provenance, *, is_foreign: bool
) -> Kept:
    """Store the errors of a block; its last valid version stays applied, without one what is left of it."""
    valid_identity = identity_of(found, origin)
    identity = f"{valid_identity}!"
    former = _former(connection, origin.project, identity)
    if former and former.digest == found.digest:
        return "same"
    valid = _former(connection, origin.project, valid_identity)
    if found.usable and (valid is None or (former and valid.digest == former.digest)):
        usable = msgspec.structs.replace(found, block=found.usable, violations=())
        _store_valid(connection, usable, origin, is_foreign=is_foreign)
        former = _former(connection, origin.project, identity)
    if former:
        _remove(connection, former.number)
    _insert(connection, found, origin, identity, task_key_of(found, origin))
    return "invalid"


def block_errors(database: Database) -> list[str]:
    """Return what is wrong with stored blocks: file or session, line, field and rule of each violation."""
    with database.reading() as connection:
        rows = connection.execute(
            "select project, file, session_id, violations from flow_blocks "
            "where violations <> '' and body = '' order by at desc"
        ).fetchall()
    return [
        f"{f'{project}/{file}' if file else f'session {session_id[:8]}'}: {violation}"
        for project, file, session_id, violations in rows
        for violation in _violations(violations)
    ]


def _former(connection: sqlite3.Connection, project: str, identity: str) -> _Former | None:
    row = connection.execute(
        "select number, digest, session_id, at from flow_blocks where project = ? and identity = ?",
        (project, identity),
    ).fetchone()
    return _Former(*row) if row else None


def _seen_again(connection: sqlite3.Connection, number: int, session_id: str, origin: Provenance) -> Kept:
    if origin.session_id and not session_id:  # the file was read before the session that wrote it
        connection.execute(
            "update flow_blocks set session_id = ? where number = ?", (origin.session_id, number)
        )
        _promote(connection, number)
        connection.execute(
            "update flow_mentions set session_id = ?, record = ? where source = ?",
            (origin.session_id, origin.record, f"block:{number}"),
        )
    return "same"


def _remove(connection: sqlite3.Connection, number: int) -> None:
    withdraw(connection, f"block:{number}")
    connection.execute("delete from flow_context_map where source = ?", (f"block:{number}",))
    connection.execute("delete from flow_blocks where number = ?", (number,))


def _insert(
    connection: sqlite3.Connection, found: FoundBlock, origin: Provenance, identity: str, key: str
) -> int:
    body = _encode(found.block).decode() if found.block else ""
    outcome = found.block.outcome if found.block else ""
    cursor = connection.execute(
        _BLOCK,
        (
            *(origin.project, identity, found.digest, key, found.task.id, found.task.name, outcome, body),
            *(found.text, _encode(found.violations).decode() if found.violations else ""),
            *(origin.session_id, origin.file, found.line, origin.at),
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
