"""The nodes and edges of the knowledge graph: their types, provenance, and how they are read and written."""

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from flowd.store.knowledge.facets import facets

NodeType = Literal["task", "decision", "pattern", "gotcha", "insight", "question", "step", "blocker"]
NODE_TYPES: tuple[NodeType, ...] = get_args(NodeType)

# What an agent wrote into a block counts more than what was extracted from a conversation.
BLOCK_WEIGHT = 1.0
IMPORT_WEIGHT = 0.8
EXTRACTION_WEIGHT = 0.5
# A task that is only referred to: any mention of its own replaces this one.
REFERENCE_WEIGHT = 0.1
# What came with a repository and is not accepted: it never outweighs a word of this machine.
FOREIGN_WEIGHT = 0.05
MAX_TAGS = 24

_NODES = """
insert into flow_nodes (project, id, type, summary, detail, tags, file, severity, status, given_id, weight,
    mentions, created_at, seen_at, facets)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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

    @property
    def is_foreign(self) -> bool:
        """Whether only text that came with a repository, and is not accepted, mentions it."""
        return 0 < self.weight <= FOREIGN_WEIGHT


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


class NodeKey(NamedTuple):
    """The primary key of a node."""

    project: str
    node: str


class NodeWording(NamedTuple):
    """The text of one source about a node; the greatest one (weight, then time) counts."""

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


Wordings = dict[NodeKey, dict[str, NodeWording]]


def wordings_of(connection: sqlite3.Connection, nodes: Iterable[NodeKey]) -> Wordings:
    """Return the wordings of each of *nodes* by source; a node without mentions has none."""
    found: Wordings = {node: {} for node in nodes}
    for row in connection.execute(_WORDINGS, (_encode(list(found)).decode(),)):
        wording = NodeWording._make(row[2:])
        found[row[:2]][wording.source] = wording
    return found


def update_nodes(
    connection: sqlite3.Connection, wordings: Mapping[NodeKey, Mapping[str, NodeWording]]
) -> None:
    """Derive each node from its *wordings*; delete nodes without any, unless pinned."""
    gone = [key for key, by_source in wordings.items() if not by_source]
    if gone:
        connection.execute(_GONE, (_encode(gone).decode(),))
    rows = [_node_row(key, list(by_source.values())) for key, by_source in wordings.items() if by_source]
    connection.executemany(_NODES, rows)


def _node_row(key: NodeKey, wordings: list[NodeWording]) -> tuple[Any, ...]:
    wordings.sort(reverse=True)
    best = wordings[0]
    if best.weight > FOREIGN_WEIGHT:
        wordings = [wording for wording in wordings if wording.weight > FOREIGN_WEIGHT]
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
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_EDGES = "insert or ignore into flow_edges (project, from_id, to_id, kind, source) values (?, ?, ?, ?, ?)"
_FORGOTTEN = "select project, id from flow_forgotten where project in (select value from json_each(?))"


def add_mentions(connection: sqlite3.Connection, mentions: Iterable[Mention]) -> None:
    """Store *mentions* and update their nodes; forgotten nodes are skipped."""
    by_key = {(_key(mention), mention.source): mention for mention in mentions}
    forgotten = _forgotten(connection, {key.project for key, _ in by_key})
    kept = {key: mention for key, mention in by_key.items() if key[0] not in forgotten}
    wordings = wordings_of(connection, (key for key, _ in kept))
    for (key, source), mention in kept.items():
        wordings[key][source] = _wording(mention)
    connection.executemany(_MENTIONS, [_row(mention) for mention in kept.values()])
    update_nodes(connection, wordings)


def add_edges(connection: sqlite3.Connection, source: str, edges: Iterable[Edge]) -> None:
    """Store the edges that *source* states."""
    rows = [(edge.project, edge.from_id, edge.to_id, edge.kind, source) for edge in edges]
    connection.executemany(_EDGES, rows)


def withdraw(connection: sqlite3.Connection, source: str) -> None:
    """Delete the mentions and edges of *source*, and nodes that nobody else mentions."""
    nodes = connection.execute(
        "select project, node from flow_mentions where source = ?", (source,)
    ).fetchall()
    connection.execute("delete from flow_mentions where source = ?", (source,))
    connection.execute("delete from flow_edges where source = ?", (source,))
    update_nodes(connection, wordings_of(connection, (NodeKey(*node) for node in nodes)))


def _forgotten(connection: sqlite3.Connection, projects: Iterable[str]) -> set[tuple[str, str]]:
    """Return the nodes of *projects* that the user had forgotten with `flow knowledge forget`."""
    names = msgspec.json.encode(list(projects)).decode()
    return set(connection.execute(_FORGOTTEN, (names,)))


def _key(mention: Mention) -> NodeKey:
    return NodeKey(mention.provenance.project, mention.node)


def _wording(mention: Mention) -> NodeWording:
    return NodeWording(
        *(mention.weight, mention.provenance.at, mention.source, mention.type, mention.summary),
        *(mention.detail, " ".join(mention.tags), mention.location, mention.severity),
        *(mention.status, mention.given_id),
    )


def _row(mention: Mention) -> tuple[object, ...]:
    origin = mention.provenance
    return (
        *(origin.project, mention.node, mention.source, mention.type, mention.summary, mention.detail),
        *(" ".join(mention.tags), mention.location, mention.severity, mention.status),
        *(mention.given_id, mention.weight),
        *(origin.session_id, origin.record, origin.file, origin.line, origin.at),
    )
