"""Each node of the graph follows its mentions, many nodes in one go."""

import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from flowd.model.block import digest
from flowd.store.knowledge.graph import Edge, Mention, write_rows

MAX_TAGS = 24

_NODES = """
insert into flow_nodes (project, id, type, summary, detail, tags, file, severity, status, given_id, weight,
    mentions, created_at, seen_at, facets)
values {rows}
on conflict(project, id) do update set
    type = excluded.type, summary = excluded.summary, detail = excluded.detail, tags = excluded.tags,
    file = excluded.file, severity = excluded.severity, status = excluded.status,
    given_id = excluded.given_id, weight = excluded.weight, mentions = excluded.mentions,
    created_at = excluded.created_at, seen_at = excluded.seen_at, facets = excluded.facets
"""
_WORDINGS = """
select m.project, m.node, m.weight, m.at, m.source, m.type, m.summary, m.detail, m.tags, m.location,
    m.severity, m.status, m.given_id
from json_each(?) touched cross join flow_mentions m
    on m.project = json_extract(touched.value, '$[0]') and m.node = json_extract(touched.value, '$[1]')
"""
_GONE = """
delete from flow_nodes where not pinned and number in (
    select n.number from json_each(?) gone cross join flow_nodes n
        on n.project = json_extract(gone.value, '$[0]') and n.id = json_extract(gone.value, '$[1]'))
"""
_encode = msgspec.json.Encoder().encode


class NodeKey(NamedTuple):
    """What names a node."""

    project: str
    node: str


class NodeWording(NamedTuple):
    """What one source says of a node; the greatest is the one that counts."""

    weight: float
    at: float
    source: str
    type: str
    summary: str
    detail: str
    tags: str
    location: str
    severity: str
    status: str
    given_id: str


Said = dict[NodeKey, dict[str, NodeWording]]


def said_of(connection: sqlite3.Connection, nodes: Iterable[NodeKey]) -> Said:
    """Return all wordings of each of *nodes* by their sources, without any for one that nobody mentions."""
    said: Said = {node: {} for node in nodes}
    for row in connection.execute(_WORDINGS, (_encode(list(said)).decode(),)):
        wording = NodeWording._make(row[2:])
        said[row[:2]][wording.source] = wording
    return said


def settle(connection: sqlite3.Connection, said: Mapping[NodeKey, Mapping[str, NodeWording]]) -> None:
    """Make each node what is *said* of it; one without a word goes, unless a person pinned it."""
    gone = [key for key, wordings in said.items() if not wordings]
    if gone:
        connection.execute(_GONE, (_encode(gone).decode(),))
    rows = [_settled(key, list(wordings.values())) for key, wordings in said.items() if wordings]
    write_rows(connection, _NODES, rows)


@lru_cache(maxsize=512)
def facets(project: str = "", kind: str = "", severity: str = "", tags: tuple[str, ...] = ()) -> str:
    """Return the words under which the index finds a node by what it is, not by what it says."""
    words = [
        f"xproject{digest(project)}" if project else "",
        f"xtype{kind}" if kind else "",
        f"xseverity{severity}" if severity else "",
        *(f"xtag{digest(tag)}" for tag in tags),
    ]
    return " ".join(word for word in words if word)


def _settled(key: NodeKey, wordings: list[NodeWording]) -> tuple[Any, ...]:
    wordings.sort(reverse=True)
    best = wordings[0]
    tags = tuple(dict.fromkeys(" ".join([wording.tags for wording in wordings]).split()))[:MAX_TAGS]
    times = [wording.at for wording in wordings]
    return (
        *(*key, best.type, best.summary, best.detail, " ".join(tags), best.location, best.severity),
        *(best.status, best.given_id, best.weight, len(wordings), min(times), max(times)),
        facets(key.project, best.type, best.severity, tags),
    )


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


def _wording(said: Mention) -> NodeWording:
    return NodeWording(
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
