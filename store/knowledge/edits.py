"""What a person may do to the graph: pin a node, or have it forgotten for good."""

import sqlite3
import time

import msgspec

from flowd.model.block import HandoffBlock
from flowd.store.database import Database
from flowd.store.knowledge.effects import without
from flowd.store.knowledge.graph import Node


def pin(database: Database, node: Node, *, pinned: bool = True) -> None:
    """Keep *node* on top and alive, or let it be like any other again."""
    with database.transaction() as connection:
        connection.execute(
            "update flow_nodes set pinned = ? where project = ? and id = ?", (pinned, node.project, node.id)
        )


def forget(database: Database, node: Node) -> None:
    """Remove *node*, every wording of it and its place in stored blocks; it does not come back."""
    key = (node.project, node.id)
    with database.transaction() as connection:
        _cut_from_blocks(connection, node)
        connection.execute("insert or replace into flow_forgotten values (?, ?, ?)", (*key, time.time()))
        connection.execute("delete from flow_mentions where project = ? and node = ?", key)
        connection.execute("delete from flow_nodes where project = ? and id = ?", key)
        connection.execute(
            "delete from flow_edges where project = ? and (from_id = ? or to_id = ?)", (*key, node.id)
        )


def _cut_from_blocks(connection: sqlite3.Connection, node: Node) -> None:
    rows = connection.execute(
        "select b.number, b.body from flow_mentions m join flow_blocks b on m.source = 'block:' || b.number "
        "where m.project = ? and m.node = ? and b.body <> ''",
        (node.project, node.id),
    ).fetchall()
    for number, body in rows:
        block = without(msgspec.json.decode(body, type=HandoffBlock), {node.id})
        connection.execute(
            "update flow_blocks set body = ? where number = ?", (msgspec.json.encode(block).decode(), number)
        )
