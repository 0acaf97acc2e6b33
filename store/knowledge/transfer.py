"""Export the graph as knowledge_graph.json, Graphviz or Mermaid, and import knowledge_graph.json."""

import re
import time
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from flowd.model.block import stable_id
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.store.database import Database
from flowd.store.knowledge.graph import (
    IMPORT_WEIGHT,
    Edge,
    Mention,
    Node,
    NodeType,
    Provenance,
    add_edges,
    add_mentions,
    task_key,
)
from flowd.store.knowledge.search import nodes_in
from flowd.system.errors import FlowdError
from flowd.system.text import cut, one_line
from flowd.system.times import iso_seconds, to_seconds

VERSION = 1
MAX_SUMMARY_CHARACTERS = 100
_SHAPES = {"task": ("[", "]"), "pattern": ("(", ")"), "gotcha": ("{{", "}}")}
_DOT_SHAPES = {"task": "box", "pattern": "ellipse", "gotcha": "hexagon"}


# The kinds of nodes that the graph of the origin has.
EXPORTED = frozenset({"task", "decision", "pattern", "gotcha", "insight"})


class Graph(NamedTuple):
    """Nodes, and the edges between them."""

    nodes: list[Node]
    edges: list[Edge]


class GraphNode(msgspec.Struct, kw_only=True):
    """A node in knowledge_graph.json; the last three fields are flowd's extensions."""

    id: str
    type: NodeType
    tags: list[str] = []
    summary: str
    file: str | None = None
    created: str = ""
    connections: list[str] = []
    text: str | msgspec.UnsetType = msgspec.UNSET
    detail: str | msgspec.UnsetType = msgspec.UNSET
    severity: str | msgspec.UnsetType = msgspec.UNSET


class GraphDocument(msgspec.Struct, kw_only=True):
    """knowledge_graph.json."""

    version: int = VERSION
    last_updated: str = ""
    nodes: list[GraphNode] = []
    tag_index: dict[str, list[str]] = {}


def load_graph(database: Database, project: str = "") -> Graph:
    """Return the graph of *project*, of all projects if it is empty, without what is foreign."""
    with database.reading() as connection:
        nodes = [
            node for node in nodes_in(connection, project) if not node.is_foreign and node.type in EXPORTED
        ]
        rows = connection.execute(
            "select distinct project, from_id, to_id, kind from flow_edges where ? = '' or project = ? "
            "order by from_id, kind, to_id",
            (project, project),
        ).fetchall()
    known = {(node.project, node.id) for node in nodes}
    edges = [Edge(project=row[0], from_id=row[1], to_id=row[2], kind=row[3]) for row in rows]
    return Graph(
        nodes,
        [
            edge
            for edge in edges
            if (edge.project, edge.from_id) in known and (edge.project, edge.to_id) in known
        ],
    )


def as_json(graph: Graph) -> str:
    """Return *graph* as knowledge_graph.json."""
    connections = _connections(graph.edges)
    tag_index: dict[str, list[str]] = {}
    for node in graph.nodes:
        for tag in node.tags:
            tag_index.setdefault(tag, []).append(node.id)
    newest = max((node.seen_at for node in graph.nodes), default=0.0)
    document = GraphDocument(
        last_updated=iso_seconds(newest),
        nodes=[_graph_node(node, connections.get((node.project, node.id), [])) for node in graph.nodes],
        tag_index=dict(sorted(tag_index.items())),
    )
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def as_dot(graph: Graph) -> str:
    """Return *graph* as a Graphviz document."""
    names = _names(graph.nodes)
    lines = ["digraph knowledge {", "  rankdir=LR;"]
    for node in graph.nodes:
        shape = _DOT_SHAPES.get(node.type, "note")
        lines.append(f"  {names[node.project, node.id]} [shape={shape}, label={_quoted(_label(node))}];")
    for start, end, kind in _named_edges(graph, names):
        lines.append(f"  {start} -> {end} [label={_quoted(kind)}];")
    return "\n".join([*lines, "}"]) + "\n"


def as_mermaid(graph: Graph) -> str:
    """Return *graph* as a Mermaid flowchart."""
    names = _names(graph.nodes)
    lines = ["graph LR"]
    for node in graph.nodes:
        opening, closing = _SHAPES.get(node.type, ("([", "])"))
        lines.append(f"  {names[node.project, node.id]}{opening}{_mermaid_text(_label(node))}{closing}")
    lines += [f"  {start} -->|{kind}| {end}" for start, end, kind in _named_edges(graph, names)]
    return "\n".join(lines) + "\n"


def _graph_node(node: Node, connections: list[str]) -> GraphNode:
    is_long = len(node.summary) > MAX_SUMMARY_CHARACTERS
    return GraphNode(
        id=node.id,
        type=node.type,
        tags=list(node.tags),
        summary=cut(node.summary, MAX_SUMMARY_CHARACTERS),
        file=None if node.type == "gotcha" or not node.file else node.file,
        created=time.strftime("%Y-%m-%d", time.gmtime(node.created_at)),
        connections=connections,
        text=node.summary if is_long else msgspec.UNSET,
        detail=node.detail or msgspec.UNSET,
        severity=node.severity or msgspec.UNSET,
    )


def _connections(edges: Iterable[Edge]) -> dict[tuple[str, str], list[str]]:
    connections: dict[tuple[str, str], list[str]] = {}
    for edge in edges:
        for one, other in ((edge.from_id, edge.to_id), (edge.to_id, edge.from_id)):
            connections.setdefault((edge.project, one), []).append(other)
    return connections


def _names(nodes: list[Node]) -> dict[tuple[str, str], str]:
    return {(node.project, node.id): f"n{number}" for number, node in enumerate(nodes, 1)}


def _named_edges(graph: Graph, names: dict[tuple[str, str], str]) -> list[tuple[str, str, str]]:
    return [
        (names[edge.project, edge.from_id], names[edge.project, edge.to_id], edge.kind)
        for edge in graph.edges
    ]


def _label(node: Node) -> str:
    text = cut(node.summary, MAX_SUMMARY_CHARACTERS)
    return text if node.type == "task" else f"{node.type}: {text}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{one_line(escaped)}"'


def _mermaid_text(text: str) -> str:
    for character, entity in (("#", "#35;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;"), ("`", "#96;")):
        text = text.replace(character, entity)
    return f'"{one_line(text)}"'


_NOT_IN_TAGS = re.compile(r"[^a-z0-9]+")


def import_graph(database: Database, data: bytes, project: str, file: str, redact: Redact = redact) -> int:
    """Merge the knowledge_graph.json in *data* into *project*'s graph; return its number of nodes."""
    document = _redacted(_document(data), redact)
    names = {node.id: _id_of(node) for node in document.nodes}
    source = f"import:{project}:{file}"
    with database.transaction() as connection:
        add_mentions(
            connection, [_mention(node, names[node.id], source, project, file) for node in document.nodes]
        )
        add_edges(connection, source, _edges(document, names, project))
    return len(document.nodes)


def _document(data: bytes) -> GraphDocument:
    try:
        document = msgspec.json.decode(data, type=GraphDocument)
    except msgspec.MsgspecError as error:
        raise FlowdError(
            f"not a knowledge graph: {error}",
            hint="the expected format is that of `flow knowledge export --format json`",
        ) from error
    if document.version != VERSION:
        raise FlowdError(f"knowledge graph of version {document.version}: flowd reads version {VERSION}")
    return document


def _redacted(document: GraphDocument, redact: Redact) -> GraphDocument:
    nodes = [
        msgspec.structs.replace(
            node,
            summary=redact(node.summary),
            text=redact(node.text) if isinstance(node.text, str) else node.text,
            detail=redact(node.detail) if isinstance(node.detail, str) else node.detail,
            file=redact(node.file or ""),
        )
        for node in document.nodes
    ]
    return msgspec.structs.replace(document, nodes=nodes)


def _id_of(node: GraphNode) -> str:
    return task_key(node.id) if node.type == "task" else stable_id(node.type, _text(node))


def _text(node: GraphNode) -> str:
    return node.text if isinstance(node.text, str) else node.summary


def _mention(node: GraphNode, name: str, source: str, project: str, file: str) -> Mention:
    return Mention(
        source=source,
        node=name,
        type=node.type,
        summary=_text(node),
        detail=node.detail if isinstance(node.detail, str) else "",
        severity=_severity(node),
        tags=tuple(
            tag for tag in (_NOT_IN_TAGS.sub("-", tag.casefold()).strip("-") for tag in node.tags) if tag
        ),
        location=node.file or "",
        given_id="" if node.id == name else node.id,
        weight=IMPORT_WEIGHT,
        provenance=Provenance(project=project, file=file, at=to_seconds(node.created)),
    )


def _severity(node: GraphNode) -> str:
    if node.type != "gotcha":
        return ""
    return node.severity if node.severity in ("high", "low") else "medium"


def _edges(document: GraphDocument, names: dict[str, str], project: str) -> list[Edge]:
    """Return each connection once; it starts at the task if one end is a task."""
    tasks = {node.id for node in document.nodes if node.type == "task"}
    edges = {}
    for node in document.nodes:
        for other in node.connections:
            if other in names and other != node.id:
                start, end = (node.id, other) if node.id in tasks or other not in tasks else (other, node.id)
                pair = (start, end) if (end, start) not in edges else (end, start)
                edges[pair] = Edge(
                    project=project,
                    from_id=names[pair[0]],
                    to_id=names[pair[1]],
                    kind="blocks" if {start, end} <= tasks else "discovered" if start in tasks else "related",
                )
    return list(edges.values())
