"""Writing to the graph: mentions come and go, and each node follows its mentions."""

import sqlite3
from collections.abc import Iterable, Sequence

from flowd.handoff.block_ids import digest
from flowd.store.knowledge import Edge, Mention

MOST_TAGS = 24

_MENTION = """
insert or replace into flow_mentions (project, node, source, type, summary, detail, tags, location, severity,
    status, given_id, weight, session_id, record, file, line, at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_MENTIONS = """
select type, summary, detail, tags, location, severity, status, given_id, weight, at from flow_mentions
where project = ? and node = ? order by weight desc, at desc, source desc
"""
_NODE = """
insert into flow_nodes (project, id, type, summary, detail, tags, file, severity, status, given_id, weight,
    mentions, created_at, seen_at, facets)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict(project, id) do update set
    type = excluded.type, summary = excluded.summary, detail = excluded.detail, tags = excluded.tags,
    file = excluded.file, severity = excluded.severity, status = excluded.status,
    given_id = excluded.given_id, weight = excluded.weight, mentions = excluded.mentions,
    created_at = excluded.created_at, seen_at = excluded.seen_at, facets = excluded.facets
"""


def add_mentions(connection: sqlite3.Connection, mentions: Iterable[Mention]) -> None:
    """Take *mentions* in and bring their nodes up to date; what was forgotten stays forgotten."""
    kept = [mention for mention in mentions if not is_forgotten(connection, mention)]
    connection.executemany(_MENTION, [_row(mention) for mention in kept])
    for project, node in dict.fromkeys((mention.provenance.project, mention.node) for mention in kept):
        settle_node(connection, project, node)


def add_edges(connection: sqlite3.Connection, source: str, edges: Iterable[Edge]) -> None:
    """Relate nodes on the word of *source*."""
    connection.executemany(
        "insert or ignore into flow_edges (project, from_id, to_id, kind, source) values (?, ?, ?, ?, ?)",
        [(edge.project, edge.from_id, edge.to_id, edge.kind, source) for edge in edges],
    )


def withdraw(connection: sqlite3.Connection, source: str) -> None:
    """Take back all that *source* said; nodes nobody else mentions are gone with it."""
    nodes = connection.execute(
        "select project, node from flow_mentions where source = ?", (source,)
    ).fetchall()
    connection.execute("delete from flow_mentions where source = ?", (source,))
    connection.execute("delete from flow_edges where source = ?", (source,))
    for project, node in nodes:
        settle_node(connection, project, node)


def settle_node(connection: sqlite3.Connection, project: str, node: str) -> None:
    """Make the node what its mentions say; without any it goes, unless a person pinned it."""
    rows = connection.execute(_MENTIONS, (project, node)).fetchall()
    if not rows:
        connection.execute(
            "delete from flow_nodes where project = ? and id = ? and not pinned", (project, node)
        )
        return
    kind, summary, detail, _, location, severity, status, given_id, weight, _ = rows[0]
    tags = list(dict.fromkeys(tag for row in rows for tag in row[3].split()))[:MOST_TAGS]
    times = [row[-1] for row in rows]
    connection.execute(
        _NODE,
        (
            *(project, node, kind, summary, detail, " ".join(tags), location, severity, status, given_id),
            *(weight, len(rows), min(times), max(times), facets(project, kind, severity, tags)),
        ),
    )


def is_forgotten(connection: sqlite3.Connection, mention: Mention) -> bool:
    """Tell whether a person asked not to be told this again."""
    key = (mention.provenance.project, mention.node)
    return (
        connection.execute("select 1 from flow_forgotten where project = ? and id = ?", key).fetchone()
        is not None
    )


def facets(project: str = "", kind: str = "", severity: str = "", tags: Sequence[str] = ()) -> str:
    """Return the words under which the index finds a node by what it is, not by what it says."""
    words = [
        f"xproject{digest(project)}" if project else "",
        f"xtype{kind}" if kind else "",
        f"xseverity{severity}" if severity else "",
        *(f"xtag{digest(tag)}" for tag in tags),
    ]
    return " ".join(word for word in words if word)


def _row(mention: Mention) -> tuple[object, ...]:
    said, place = mention, mention.provenance
    return (
        *(place.project, said.node, said.source, said.type, said.summary, said.detail, " ".join(said.tags)),
        *(said.location, said.severity, said.status, said.given_id, said.weight),
        *(place.session_id, place.record, place.file, place.line, place.at),
    )
