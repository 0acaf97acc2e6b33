"""Taking in a knowledge_graph.json, as the specification's origin or flowd itself wrote it."""

import re
from datetime import UTC, datetime

import msgspec

from flowd.config.errors import FlowdError
from flowd.handoff.block_ids import stable_id
from flowd.handoff.redaction import redact
from flowd.store.database import Database
from flowd.store.knowledge import IMPORT_WEIGHT, Edge, Mention, Provenance, task_key
from flowd.store.knowledge_export import VERSION, GraphDocument, GraphNode
from flowd.store.knowledge_mentions import add_edges, add_mentions

_NOT_IN_TAGS = re.compile(r"[^a-z0-9]+")


def import_graph(database: Database, data: bytes, project: str, file: str) -> int:
    """Merge the graph that *data* holds into *project*'s; return how many nodes it has."""
    document = _document(data)
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
            hint="expected is what `flow knowledge export --format json` writes",
        ) from error
    if document.version != VERSION:
        raise FlowdError(f"knowledge graph of version {document.version}: flowd reads version {VERSION}")
    return document


def _id_of(node: GraphNode) -> str:
    return task_key(node.id) if node.type == "task" else stable_id(node.type, _text(node))


def _text(node: GraphNode) -> str:
    return redact(node.text if isinstance(node.text, str) else node.summary)


def _mention(node: GraphNode, name: str, source: str, project: str, file: str) -> Mention:
    return Mention(
        source=source,
        node=name,
        type=node.type,
        summary=_text(node),
        detail=redact(node.detail) if isinstance(node.detail, str) else "",
        severity=_severity(node),
        tags=tuple(
            tag for tag in (_NOT_IN_TAGS.sub("-", tag.casefold()).strip("-") for tag in node.tags) if tag
        ),
        location=redact(node.file or ""),
        given_id="" if node.id == name else node.id,
        weight=IMPORT_WEIGHT,
        provenance=Provenance(project=project, file=file, at=_seconds(node.created)),
    )


def _severity(node: GraphNode) -> str:
    if node.type != "gotcha":
        return ""
    return node.severity if node.severity in ("high", "low") else "medium"


def _seconds(day: str) -> float:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0


def _edges(document: GraphDocument, names: dict[str, str], project: str) -> list[Edge]:
    """Return each connection once, from the task if one end is a task."""
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
