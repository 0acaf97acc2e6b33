"""Use-cases of the knowledge graph: find one node, forget it."""

from flowd.actions.context import Context, find_project
from flowd.store.knowledge.effects import forget
from flowd.store.knowledge.graph import Node
from flowd.store.knowledge.search import find_nodes
from flowd.system.errors import FlowdError


def find_all(context: Context, node_id: str, project: str = "") -> list[Node]:
    """Return the nodes with this id, of every project unless one is given; raise FlowdError without any."""
    here = shown_project(context, project)
    found = find_nodes(context.database, node_id, project)
    nodes = [node for node in found if not node.is_foreign or node.project == here]
    if not nodes:
        raise FlowdError(f"no node with id {node_id}", hint="find ids with `flow knowledge search WORDS`")
    return nodes


def shown_project(context: Context, project: str = "") -> str:
    """Return whose foreign words may be shown: those of *project*, else of the one around."""
    if context.session_id:  # a session is told none of them
        return ""
    try:
        return project or find_project().root
    except FlowdError:
        return ""


def find_one(context: Context, node_id: str, project: str = "") -> Node:
    """Return the one node with this id; raise FlowdError if several projects have one."""
    nodes = find_all(context, node_id, project)
    if len(nodes) > 1:
        places = ", ".join(f"{node.id} in {node.project}" for node in nodes)
        raise FlowdError(f"{node_id} is ambiguous: {places}", hint="choose one with --project DIR")
    return nodes[0]


def forget_node(context: Context, node_id: str, project: str = "") -> Node:
    """Delete a node for good and return it; it does not come back when its block is read again."""
    node = find_one(context, node_id, project)
    forget(context.database, node)
    return node
