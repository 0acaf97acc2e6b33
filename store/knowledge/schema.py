"""The tables of the knowledge graph, for the migrations."""

from sqlite_utils import Database as Tables

SEARCHED = ["summary", "detail", "tags", "file", "facets"]


def create_knowledge(tables: Tables) -> None:
    """Create the tables of blocks, mentions, nodes, edges, the context map and blockers."""
    _blocks(tables)
    _mentions(tables)
    _nodes(tables)
    _edges(tables)
    _context_map_and_blockers(tables)


def index_changed_words(tables: Tables) -> None:
    """Index a node again only if its text changes: most updates only count one more mention."""
    changed = " or ".join(f'old."{name}" is not new."{name}"' for name in SEARCHED)
    names, old, new = (", ".join(f'{prefix}"{name}"' for name in SEARCHED) for prefix in ("", "old.", "new."))
    tables.execute("drop trigger if exists flow_nodes_au")
    tables.execute(
        f"""create trigger flow_nodes_au after update on flow_nodes when {changed} begin
            insert into flow_nodes_fts (flow_nodes_fts, rowid, {names}) values ('delete', old.rowid, {old});
            insert into flow_nodes_fts (rowid, {names}) values (new.rowid, {new});
        end"""  # noqa: S608 constants only
    )


def _blocks(tables: Tables) -> None:
    tables.table("flow_blocks").create(
        {
            "number": int,
            "project": str,
            "identity": str,
            "digest": str,
            "task_key": str,
            "task_id": str,
            "task_name": str,
            "outcome": str,
            "body": str,
            "raw": str,
            "violations": str,
            "session_id": str,
            "file": str,
            "line": int,
            "at": float,
        },
        pk="number",
        not_null={"project", "identity", "digest", "task_key", "at"},
        if_not_exists=True,
    )
    blocks = tables.table("flow_blocks")
    blocks.create_index(["project", "identity"], unique=True, if_not_exists=True)
    blocks.create_index(["project", "digest"], if_not_exists=True)
    blocks.create_index(["project", "task_key", "at"], if_not_exists=True)


def _mentions(tables: Tables) -> None:
    tables.table("flow_mentions").create(
        {
            "project": str,
            "node": str,
            "source": str,
            "type": str,
            "summary": str,
            "detail": str,
            "tags": str,
            "location": str,
            "severity": str,
            "status": str,
            "given_id": str,
            "weight": float,
            "session_id": str,
            "record": str,
            "file": str,
            "line": int,
            "at": float,
        },
        pk=("project", "node", "source"),
        if_not_exists=True,
    )
    tables.table("flow_mentions").create_index(["source"], if_not_exists=True)


def _nodes(tables: Tables) -> None:
    nodes = tables.table("flow_nodes")
    nodes.create(
        {
            "number": int,
            "project": str,
            "id": str,
            "type": str,
            "summary": str,
            "detail": str,
            "tags": str,
            "file": str,
            "severity": str,
            "status": str,
            "given_id": str,
            "weight": float,
            "mentions": int,
            "pinned": int,
            "created_at": float,
            "seen_at": float,
            "facets": str,
        },
        pk="number",
        not_null={"project", "id", "type", "summary", "facets"},
        defaults={"pinned": 0, "mentions": 0},
        if_not_exists=True,
    )
    nodes.create_index(["project", "id"], unique=True, if_not_exists=True)
    nodes.create_index(["id"], if_not_exists=True)
    nodes.create_index(["given_id"], if_not_exists=True)
    nodes.create_index(["project", "type", "severity", "seen_at"], if_not_exists=True)
    nodes.enable_fts(SEARCHED, create_triggers=True, tokenize="porter unicode61")


def _edges(tables: Tables) -> None:
    tables.table("flow_edges").create(
        {"project": str, "from_id": str, "to_id": str, "kind": str, "source": str},
        pk=("project", "from_id", "to_id", "kind", "source"),
        if_not_exists=True,
    )
    tables.table("flow_edges").create_index(["project", "to_id"], if_not_exists=True)
    tables.table("flow_edges").create_index(["source"], if_not_exists=True)
    tables.table("flow_forgotten").create(
        {"project": str, "id": str, "at": float}, pk=("project", "id"), if_not_exists=True
    )


def _context_map_and_blockers(tables: Tables) -> None:
    tables.table("flow_context_map").create(
        {
            "project": str,
            "location": str,
            "component": str,
            "notes": str,
            "task_key": str,
            "source": str,
            "at": float,
        },
        pk=("project", "location"),
        if_not_exists=True,
    )
    tables.table("flow_context_map").create_index(["source"], if_not_exists=True)
    tables.table("flow_blockers").create(
        {
            "project": str,
            "task_key": str,
            "id": str,
            "blocker": str,
            "impact": str,
            "suggested_resolution": str,
            "blocking_tasks": str,
            "state": str,
            "since": float,
            "resolved_at": float,
        },
        pk=("project", "task_key", "id"),
        if_not_exists=True,
    )
    tables.table("flow_blockers").create_index(["project", "state"], if_not_exists=True)
