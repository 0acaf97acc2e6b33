"""Search the graph: full text with filters, and single nodes with their mentions and edges."""

import re
import sqlite3
from typing import Any, NamedTuple

from flowd.store.database import Database
from flowd.store.knowledge.facets import facets
from flowd.store.knowledge.graph import FOREIGN_WEIGHT, Edge, Node, NodeType, Provenance

# Only the newest matches are ranked: a word that half of all nodes contain stays cheap.
MAX_RANKED = 1000

_COLUMNS = (
    "n.project, n.id, n.type, n.summary, n.detail, n.tags, n.file, n.severity, n.status, n.given_id, "
    "n.weight, n.mentions, n.pinned, n.created_at, n.seen_at"
)
_RANKED = f"""
with hits as (
    select rowid as number, bm25(flow_nodes_fts, 4.0, 2.0, 4.0, 1.0, 0.0) as score
    from flow_nodes_fts where flow_nodes_fts match :match order by rowid desc limit {MAX_RANKED}
)
select {_COLUMNS} from hits join flow_nodes n on n.number = hits.number
where (:type = '' or n.type = :type) and (:project = '' or n.project = :project)
    and (n.weight > :foreign or n.mentions = 0 or :here is null or n.project = :here)
    and (:severity = '' or n.severity = :severity)
order by n.pinned desc, hits.score * (0.5 + n.weight), n.seen_at desc limit :most
"""  # noqa: S608 constants only
_WORD = re.compile(r"\w+")


class NodeQuery(NamedTuple):
    """A search: words, all of which should occur, and filters.

    With *here* what came with the repository of another project is left out until it is accepted.
    """

    words: str = ""
    tag: str = ""
    type: str = ""
    project: str = ""
    severity: str = ""
    most: int = 20
    here: str | None = None


class MentionRow(NamedTuple):
    """One source's mention of a node."""

    summary: str
    source: str
    provenance: Provenance


class NodeDetails(NamedTuple):
    """A node with its mentions and edges; the fields are the keys of ``--json``."""

    node: Node
    told: list[MentionRow]
    edges: list[Edge]


def search(database: Database, query: NodeQuery) -> list[Node]:
    """Return the nodes that contain all words of *query*, else those with any of them, best first."""
    with database.reading() as connection:
        return _matching(connection, query, " AND ") or _matching(connection, query, " OR ")


def find_nodes(database: Database, node_id: str, project: str = "") -> list[Node]:
    """Return the nodes with the id *node_id*, flowd's or their author's, in *project* or everywhere."""
    with database.reading() as connection:
        rows = connection.execute(
            f"select {_COLUMNS} from flow_nodes n where (n.id = ? or n.given_id = ?) "  # noqa: S608 constants
            "and (? = '' or n.project = ?) order by n.id <> ?, n.seen_at desc",
            (node_id, node_id, project, project, node_id),
        ).fetchall()
    return [node_of(row) for row in rows]


def known_of(database: Database, node: Node) -> NodeDetails:
    """Return *node* with its mentions, newest first, and its edges."""
    with database.reading() as connection:
        mentions = connection.execute(
            "select summary, source, session_id, record, file, line, at from flow_mentions "
            "where project = ? and node = ? and (weight > ? or ?) order by at desc",
            (node.project, node.id, FOREIGN_WEIGHT, node.is_foreign),
        ).fetchall()
        return NodeDetails(
            node, [_mention_row(node.project, row) for row in mentions], _edges_of(connection, node)
        )


def tasks_of(database: Database, nodes: list[Node]) -> dict[tuple[str, str], list[str]]:
    """Return, by project and id of each of *nodes*, the titles of the tasks that discovered it."""
    found: dict[tuple[str, str], list[str]] = {}
    with database.reading() as connection:
        for node in nodes:
            rows = connection.execute(
                "select distinct t.summary from flow_edges e join flow_nodes t "
                "on t.project = e.project and t.id = e.from_id where e.project = ? and e.to_id = ? "
                "and (t.weight > ? or ?)",
                (node.project, node.id, FOREIGN_WEIGHT, node.is_foreign),
            )
            found[node.project, node.id] = [title for (title,) in rows]
    return found


def node_of(row: tuple[Any, ...]) -> Node:
    """Return the node of a row with _COLUMNS."""
    project, node_id, kind, summary, detail, tags, file, severity, status, given_id, *numbers = row
    weight, mentions, pinned, created_at, seen_at = numbers
    return Node(
        project=project,
        id=node_id,
        type=kind,
        summary=summary,
        detail=detail or "",
        tags=tuple((tags or "").split()),
        file=file or "",
        severity=severity or "",
        status=status or "",
        given_id=given_id or "",
        weight=weight,
        mentions=mentions,
        pinned=bool(pinned),
        created_at=created_at,
        seen_at=seen_at,
    )


def nodes_in(connection: sqlite3.Connection, project: str, kind: NodeType | None = None) -> list[Node]:
    """Return the nodes of *project*, of all projects if it is empty, oldest first."""
    rows = connection.execute(
        f"select {_COLUMNS} from flow_nodes n where (? = '' or n.project = ?) "  # noqa: S608 constants
        "and (? is null or n.type = ?) order by n.number",
        (project, project, kind, kind),
    )
    return [node_of(row) for row in rows]


def _matching(connection: sqlite3.Connection, query: NodeQuery, joint: str) -> list[Node]:
    match = _match(query, joint)
    values = {
        "match": match,
        "type": query.type,
        "project": query.project,
        "severity": query.severity,
        "most": query.most,
        "here": query.here,
        "foreign": FOREIGN_WEIGHT,
    }
    if match:
        return [node_of(row) for row in connection.execute(_RANKED, values)]
    rows = connection.execute(
        f"select {_COLUMNS} from flow_nodes n where n.weight > :foreign or n.mentions = 0 "  # noqa: S608
        "or :here is null or n.project = :here order by n.pinned desc, n.seen_at desc limit :most",
        values,
    )
    return [node_of(row) for row in rows]


def _match(query: NodeQuery, joint: str) -> str:
    """Return *query* as an FTS5 expression; a word also matches as a prefix."""
    # A single letter is the prefix of too many words.
    words = joint.join(f'"{word}"{"*" * (len(word) > 1)}' for word in _WORD.findall(query.words))
    tags = (query.tag,) if query.tag else ()
    filters = [
        f'facets : "{word}"' for word in facets(query.project, query.type, query.severity, tags).split()
    ]
    text = [f"{{summary detail tags file}} : ({words})"] if words else []
    return " AND ".join(text + filters)


def _mention_row(project: str, row: tuple[Any, ...]) -> MentionRow:
    summary, source, session_id, record, file, line, at = row
    origin = Provenance(project=project, session_id=session_id, record=record, file=file, line=line, at=at)
    return MentionRow(summary, source, origin)


def _edges_of(connection: sqlite3.Connection, node: Node) -> list[Edge]:
    rows = connection.execute(
        "select distinct project, from_id, to_id, kind from flow_edges "
        "where project = ? and (from_id = ? or to_id = ?) order by from_id, to_id",
        (node.project, node.id, node.id),
    )
    return [Edge(project=row[0], from_id=row[1], to_id=row[2], kind=row[3]) for row in rows]
