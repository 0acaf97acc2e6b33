"""Write blocks and the findings of sessions into the knowledge graph."""

import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec

from flowd.model.block import FoundBlock, stable_id
from flowd.model.session import Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.effects import apply_block, without
from flowd.store.knowledge.graph import (
    EXTRACTION_WEIGHT,
    Mention,
    NodeType,
    Provenance,
    add_mentions,
    task_key,
    withdraw,
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
_encode = msgspec.json.Encoder().encode
_TYPES: dict[str, NodeType] = {"decision": "decision", "learning": "insight", "context": "insight"}
_MENTIONED = """
select source, project, type, summary, node from flow_mentions
where source in (select value from json_each(?))
"""

# A resumed session repeats the findings of the one before.
_node_id = lru_cache(maxsize=512)(stable_id)


class _Former(NamedTuple):
    number: int
    digest: str
    session_id: str
    at: float


def keep_block(database: Database, found: FoundBlock, origin: Provenance) -> Kept:
    """Store *found*, which is redacted already, and apply it to the graph in one transaction."""
    with database.transaction() as connection:
        if found.block is None:
            return _store_invalid(connection, found, origin)
        rows = connection.execute("select id from flow_forgotten where project = ?", (origin.project,))
        block = without(found.block, {node_id for (node_id,) in rows})
        return _store_valid(connection, msgspec.structs.replace(found, block=block), origin)


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


def _store_valid(connection: sqlite3.Connection, found: FoundBlock, origin: Provenance) -> Kept:
    identity, key = identity_of(found, origin), task_key_of(found, origin)
    former = _former(connection, origin.project, identity)
    if former and former.digest == found.digest:
        return _seen_again(connection, former.number, former.session_id, origin)
    if former and former.at > origin.at:
        return "older"
    elsewhere = connection.execute(
        _SAME_ELSEWHERE, (origin.project, found.digest, identity, key, origin.file)
    ).fetchone()
    if elsewhere and (elsewhere[1] or not origin.file):
        return _seen_again(connection, elsewhere[0], elsewhere[2], origin)
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


def _store_invalid(connection: sqlite3.Connection, found: FoundBlock, origin: Provenance) -> Kept:
    """Store the errors of a block; its last valid version stays applied."""
    identity = f"{identity_of(found, origin)}!"
    former = _former(connection, origin.project, identity)
    if former and former.digest == found.digest:
        return "same"
    if former:
        _remove(connection, former.number)
    _insert(connection, found, origin, identity, task_key_of(found, origin))
    return "invalid"


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


class _Source(NamedTuple):
    name: str
    project: str


class _Finding(NamedTuple):
    type: NodeType
    text: str


_Known = dict[_Finding, str]


def keep_insights(database: Database, *states: SessionState) -> None:
    """Add the insights and decisions of *states*, one per session, in one transaction; idempotent."""
    with database.reading() as connection:
        known = _known(connection, map(_source, states))
    new = [mention for state in states for mention in _new_mentions(state, known[_source(state)])]
    if new:
        with database.transaction() as connection:
            add_mentions(connection, new)


def findings_digest(state: SessionState) -> int:
    """Return a hash of what *state* adds to the graph; valid within this process."""
    return hash((state.project, state.insights, state.decisions))


def _known(connection: sqlite3.Connection, sources: Iterable[_Source]) -> dict[_Source, _Known]:
    """Return the stored findings of each of *sources*, with their nodes."""
    known: dict[_Source, _Known] = {source: {} for source in sources}
    names = msgspec.json.encode([source.name for source in known]).decode()
    for name, project, kind, text, node in connection.execute(_MENTIONED, (names,)):
        if (source := _Source(name, project)) in known:
            known[source][_Finding(kind, text)] = node
    return known


def _new_mentions(state: SessionState, known: _Known) -> list[Mention]:
    """Return the mentions of *state* that are not stored yet with the same text."""
    texts = {node: finding.text for finding, node in known.items()}
    found = {
        known.get(finding) or _node_id(*finding): (finding, insight) for finding, insight in _findings(state)
    }
    return [
        _mention(state, node, finding, insight)
        for node, (finding, insight) in found.items()
        if texts.get(node) != finding.text
    ]


def _findings(state: SessionState) -> Iterator[tuple[_Finding, Insight | None]]:
    for insight in state.insights:
        yield _Finding(_TYPES[insight.category], insight.insight), insight
    insights = {insight.insight for insight in state.insights}
    for decision in state.decisions:
        if decision not in insights:
            yield _Finding("decision", decision), None


def _source(state: SessionState) -> _Source:
    return _Source(f"session:{state.session_id}", state.project)


def _mention(state: SessionState, node: str, finding: _Finding, insight: Insight | None) -> Mention:
    origin = Provenance(
        project=state.project,
        session_id=state.session_id,
        record=insight.record if insight else "",
        line=insight.line if insight else 0,
        at=state.last_activity_at,
    )
    return Mention(
        source=_source(state).name,
        node=node,
        type=finding.type,
        summary=finding.text,
        provenance=origin,
        weight=EXTRACTION_WEIGHT,
    )
