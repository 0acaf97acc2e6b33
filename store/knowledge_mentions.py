"""Writing to the graph: mentions come and go, and their nodes with them."""

import sqlite3
from collections.abc import Iterable

import msgspec

from flowd.store.knowledge import Edge, Mention
from flowd.store.knowledge_nodes import NodeKey, Wording, said_of, settle
from flowd.store.knowledge_rows import write_rows

_MENTIONS = """
insert or replace into flow_mentions (project, node, source, type, summary, detail, tags, location, severity,
    status, given_id, weight, session_id, record, file, line, at)
values {rows}
"""
_EDGES = "insert or ignore into flow_edges (project, from_id, to_id, kind, source) values {rows}"
_FORGOTTEN = "select project, id from flow_forgotten where project in (select value from json_each(?))"


def add_mentions(connection: sqlite3.Connection, mentions: Iterable[Mention]) -> None:
    """Take *mentions* in and bring their nodes up to date; what was forgotten stays forgotten."""
    by_key = {(_key(mention), mention.source): mention for mention in mentions}
    forgotten = _forgotten(connection, {key.project for key, _ in by_key})
    kept = {key: mention for key, mention in by_key.items() if key[0] not in forgotten}
    said = said_of(connection, (key for key, _ in kept))
    for (key, source), mention in kept.items():
        said[key][source] = _wording(mention)
    write_rows(connection, _MENTIONS, [_row(mention) for mention in kept.values()])
    settle(connection, said)


def add_edges(connection: sqlite3.Connection, source: str, edges: Iterable[Edge]) -> None:
    """Relate nodes on the word of *source*."""
    rows = [(edge.project, edge.from_id, edge.to_id, edge.kind, source) for edge in edges]
    write_rows(connection, _EDGES, rows)


def withdraw(connection: sqlite3.Connection, source: str) -> None:
    """Take back all that *source* said; nodes nobody else mentions are gone with it."""
    nodes = connection.execute(
        "select project, node from flow_mentions where source = ?", (source,)
    ).fetchall()
    connection.execute("delete from flow_mentions where source = ?", (source,))
    connection.execute("delete from flow_edges where source = ?", (source,))
    settle(connection, said_of(connection, (NodeKey(*node) for node in nodes)))


def _forgotten(connection: sqlite3.Connection, projects: Iterable[str]) -> set[tuple[str, str]]:
    """Return what a person asked not to be told again in *projects*."""
    names = msgspec.json.encode(list(projects)).decode()
    return set(connection.execute(_FORGOTTEN, (names,)))


def _key(mention: Mention) -> NodeKey:
    return NodeKey(mention.provenance.project, mention.node)


def _wording(said: Mention) -> Wording:
    return Wording(
        *(said.weight, said.provenance.at, said.source, said.type, said.summary, said.detail),
        *(" ".join(said.tags), said.location, said.severity, said.status, said.given_id),
    )


def _row(mention: Mention) -> tuple[object, ...]:
    said, place = mention, mention.provenance
    return (
        *(place.project, said.node, said.source, said.type, said.summary, said.detail, " ".join(said.tags)),
        *(said.location, said.severity, said.status, said.given_id, said.weight),
        *(place.session_id, place.record, place.file, place.line, place.at),
    )
