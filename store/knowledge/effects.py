"""Apply blocks and user edits (pin, forget) to the knowledge graph."""

import sqlite3
import time
from collections.abc import Collection, Iterator

import msgspec

from flowd.model.block import Blocker, Gotcha, HandoffBlock, Pattern, TaskRef, stable_id
from flowd.store.database import Database
from flowd.store.knowledge.graph import (
    BLOCK_WEIGHT,
    FOREIGN_WEIGHT,
    REFERENCE_WEIGHT,
    Edge,
    Mention,
    Node,
    NodeType,
    Provenance,
    add_edges,
    add_mentions,
    task_key,
)

_MAP = """
insert or replace into flow_context_map (project, location, component, notes, task_key, source, at)
values (?, ?, ?, ?, ?, ?, ?)
"""
_BLOCKER = """
insert into flow_blockers (project, task_key, id, blocker, impact, suggested_resolution, blocking_tasks,
    state, since)
values (?, ?, ?, ?, ?, ?, ?, 'active', ?)
on conflict(project, task_key, id) do update set
    blocker = excluded.blocker, impact = excluded.impact,
    suggested_resolution = excluded.suggested_resolution, blocking_tasks = excluded.blocking_tasks,
    since = case when state = 'active' then since else excluded.since end, state = 'active',
    resolved_at = null
"""
_RESOLVE = """
update flow_blockers set state = 'resolved', resolved_at = ?
where project = ? and task_key = ? and state = 'active' and id not in (select value from json_each(?))
"""


def apply_block(
    connection: sqlite3.Connection,
    block: HandoffBlock,
    task: TaskRef,
    key: str,
    source: str,
    origin: Provenance,
    *,
    is_foreign: bool = False,
) -> None:
    """Apply *block* as the specification's orchestrator does after an agent completes.

    A foreign one can be found, but changes nothing that this machine knows.
    """
    mentions = list(_mentions(block, task, key, source, origin))
    if is_foreign:
        mentions = [msgspec.structs.replace(mention, weight=FOREIGN_WEIGHT) for mention in mentions]
    add_mentions(connection, mentions)
    add_edges(connection, source, _edges(mentions, key, origin.project))
    if is_foreign:
        return
    _map_files(connection, block, key, source, origin)
    _put_blockers(connection, block.blockers, key, origin)


def without(block: HandoffBlock, node_ids: Collection[str]) -> HandoffBlock:
    """Return *block* without the patterns and gotchas whose nodes are *node_ids*."""
    patterns = [
        each for each in block.patterns_discovered if stable_id("pattern", each.pattern) not in node_ids
    ]
    gotchas = [each for each in block.gotchas if stable_id("gotcha", each.issue) not in node_ids]
    return msgspec.structs.replace(block, patterns_discovered=tuple(patterns), gotchas=tuple(gotchas))


def _mentions(
    block: HandoffBlock, task: TaskRef, key: str, source: str, origin: Provenance
) -> Iterator[Mention]:
    def mention(node: str, kind: NodeType, summary: str) -> Mention:
        return Mention(
            source=source, node=node, type=kind, summary=summary, provenance=origin, weight=BLOCK_WEIGHT
        )

    tags = tuple(dict.fromkeys(tag for pattern in block.patterns_discovered for tag in pattern.applies_to))
    own = mention(key, "task", task_title(task, key))
    yield msgspec.structs.replace(own, status=block.outcome, tags=tags, location=origin.file)
    for pattern in block.patterns_discovered:
        yield _of_pattern(mention(stable_id("pattern", pattern.pattern), "pattern", pattern.pattern), pattern)
    for gotcha in block.gotchas:
        yield _of_gotcha(mention(stable_id("gotcha", gotcha.issue), "gotcha", gotcha.issue), gotcha)
    for kind, text, detail in _left_open(block):
        yield msgspec.structs.replace(mention(stable_id(kind, text), kind, text), detail=detail)
    for name in _blocked(block):
        named = mention(task_key(name), "task", task_title(TaskRef(id=name), task_key(name)))
        yield msgspec.structs.replace(named, weight=REFERENCE_WEIGHT)


def _left_open(block: HandoffBlock) -> Iterator[tuple[NodeType, str, str]]:
    """Yield what a block leaves open: kind, text, and what else it says about it."""
    for question in block.open_questions:
        yield "question", question.question, _joined(question.context, question.recommendation)
    for step in block.suggested_next_steps:
        yield "step", step.step, ", ".join(step.depends_on)
    for blocker in block.blockers:
        yield "blocker", blocker.blocker, _joined(blocker.impact, blocker.suggested_resolution)


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def task_title(task: TaskRef, key: str) -> str:
    """Return the title of a task."""
    number = task.id.removeprefix("task-")
    title = f"Task {number}" if number else key
    return f"{title}: {task.name}" if task.name else title


def _of_pattern(mention: Mention, pattern: Pattern) -> Mention:
    return msgspec.structs.replace(
        mention, tags=pattern.applies_to, location=pattern.location, given_id=_given(pattern.id, mention)
    )


def _of_gotcha(mention: Mention, gotcha: Gotcha) -> Mention:
    return msgspec.structs.replace(
        mention,
        detail=gotcha.mitigation,
        location=gotcha.discovered_in,
        severity=gotcha.severity,
        given_id=_given(gotcha.id, mention),
    )


def _given(author_id: str, mention: Mention) -> str:
    return "" if author_id == mention.node else author_id


def _blocked(block: HandoffBlock) -> list[str]:
    return list(dict.fromkeys(task for blocker in block.blockers for task in blocker.blocking_tasks))


def _edges(mentions: list[Mention], key: str, project: str) -> list[Edge]:
    return [
        Edge(
            project=project,
            from_id=key,
            to_id=mention.node,
            kind="blocks" if mention.type == "task" else "discovered",
        )
        for mention in mentions
        if mention.node != key
    ]


def _map_files(
    connection: sqlite3.Connection, block: HandoffBlock, key: str, source: str, origin: Provenance
) -> None:
    files = [(file.path, file.lines, file.purpose) for file in block.files_created]
    files += [(file.path, file.lines, file.description) for file in block.files_modified]
    connection.executemany(
        _MAP,
        [
            (
                *(origin.project, f"{path}:{lines}" if lines else path, path.rstrip("/").rpartition("/")[2]),
                *(notes, key, source, origin.at),
            )
            for path, lines, notes in files
        ],
    )


def _put_blockers(
    connection: sqlite3.Connection, blockers: tuple[Blocker, ...], key: str, origin: Provenance
) -> None:
    """Store the task's current blockers; mark its other blockers as resolved."""
    rows = [
        (
            *(origin.project, key, stable_id("blocker", blocker.blocker), blocker.blocker, blocker.impact),
            *(blocker.suggested_resolution, msgspec.json.encode(blocker.blocking_tasks).decode(), origin.at),
        )
        for blocker in blockers
    ]
    connection.executemany(_BLOCKER, rows)
    active = msgspec.json.encode([row[2] for row in rows]).decode()
    connection.execute(_RESOLVE, (origin.at, origin.project, key, active))


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
