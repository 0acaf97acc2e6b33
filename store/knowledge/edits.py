"""Edits of the graph by the user: pin a node, or forget it."""

import sqlite3
import time

import msgspec

from flowd.model.block import HandoffBlock
from flowd.store.database import Database
from flowd.store.knowledge.effects import without
from flowd.store.knowledge.graph import Node


def pin(database: Database, node: Node, *, pinned: bool = True) -> None:
    """Pin *node*, so that it ranks first and is never deleted; or unpin it."""
    with database.transaction() as connection:
        connection.execute(
            "update flow_nodes set pinned = ? where project = ? and id = ?", (pinned, node.project, node.id)
        )


def forget(database: Database, node: Node) -> None:
    """Delete *node* from the graph and from stored blocks, and keep it from being added again."""
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
