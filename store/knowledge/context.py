"""Queries for the next agent: blocks of earlier tasks, learned gotchas, blockers, mapped files."""

import re

import msgspec

from flowd.handoff.task_context import SIZES, TaskContext, render_learned, render_within
from flowd.model.block import Gotcha, HandoffBlock, TaskRef
from flowd.store.database import Database
from flowd.store.knowledge.graph import FOREIGN_WEIGHT, task_key

MAX_LEARNED = 5
# Among so many of the newest blocks those about a topic are looked for.
MAX_COMPARED = 200
MIN_WORD = 3
_WORD = re.compile(r"\w+")

_LATEST = """
select b.task_id, b.task_name, b.task_key, b.body, b.file, b.identity like '%?',
    exists (select 1 from flow_edges e where e.project = b.project and e.from_id = b.task_key
        and e.to_id = :task) as is_related
from flow_blocks b
where b.project = :project and b.body <> '' and b.task_key <> :task
    and (:any_source or b.identity not like '%?')
    and not exists (select 1 from flow_blocks newer where newer.project = b.project
        and newer.task_key = b.task_key and newer.body <> ''
        and (:any_source or newer.identity not like '%?')
        and (newer.at > b.at or (newer.at = b.at and newer.number > b.number)))
order by is_related desc, b.at desc, b.number desc limit :most
"""
_OF_TASK = """
select task_id, task_name, task_key, body, file, identity like '%?' from flow_blocks
where project = ? and task_key = ? and body <> '' and (? or identity not like '%?')
order by at desc, number desc limit 1
"""
_LEARNED = """
select id, summary, detail from flow_nodes n
where project = :project and type = 'gotcha' and severity = 'high'
    and weight > :foreign
order by pinned desc, seen_at desc limit :most
"""
_BLOCKERS = """
select task_key, blocker, impact, suggested_resolution, blocking_tasks, state, since, resolved_at
from flow_blockers where project = ? and (state = 'active' or ?) order by state, since desc
"""


class MappedFile(msgspec.Struct, frozen=True):
    """An entry of the context map: a location, its component and notes."""

    location: str
    component: str
    notes: str


class TaskBlocker(msgspec.Struct, frozen=True):
    """A blocker named by a task, and its state."""

    task: str
    blocker: str
    impact: str
    suggested_resolution: str
    blocking_tasks: tuple[str, ...]
    state: str
    since: float
    resolved_at: float | None


def context_from(
    database: Database, project: str, task: str, *, any_source: bool = True
) -> TaskContext | None:
    """Return the newest valid block of *task*, None if it has none; *any_source* as below."""
    with database.reading() as connection:
        row = connection.execute(_OF_TASK, (project, task_key(task), any_source)).fetchone()
    return _context(*row) if row else None


def contexts_before(
    database: Database,
    project: str,
    task: str = "",
    *,
    topic: str = "",
    most: int = SIZES["normal"].tasks,
    any_source: bool = True,
) -> list[TaskContext]:
    """Return blocks of other tasks: those that block *task* first, then those about *topic*, then the newest.

    Without *any_source* blocks that came with the repository are left out until they are accepted: they
    must not reach the model.
    """
    read = max(most, MAX_COMPARED) if topic else most
    values = {"project": project, "task": task_key(task), "most": read, "any_source": any_source}
    with database.reading() as connection:
        rows = connection.execute(_LATEST, values).fetchall()
    about = _words(topic)
    rows.sort(key=lambda row: (-row[6], -len(about & _words(f"{row[1]} {row[3]}"))))
    return [_context(*row[:6]) for row in rows[:most]]


def _words(text: str) -> frozenset[str]:
    """Return the words of *text* that say what it is about, without endings of the plural."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word.removesuffix("s") for word in found if len(word) > MIN_WORD)


def learned_gotchas(database: Database, project: str, *, most: int = MAX_LEARNED) -> list[Gotcha]:
    """Return the severe gotchas of *project* that are not foreign, pinned ones first, then the newest."""
    values = {"project": project, "most": most, "foreign": FOREIGN_WEIGHT}
    with database.reading() as connection:
        rows = connection.execute(_LEARNED, values).fetchall()
    return [
        Gotcha(id=node_id, issue=issue, mitigation=mitigation, severity="high")
        for node_id, issue, mitigation in rows
    ]


def session_context(database: Database, project: str, budget_bytes: int, *, any_source: bool = False) -> str:
    """Return the text from blocks that a new session of *project* gets, within *budget_bytes*."""
    parts = [
        render_within(contexts_before(database, project, any_source=any_source), budget_bytes),
        render_learned(learned_gotchas(database, project)),
    ]
    text = "\n".join(part for part in parts if part)
    return text if len(text.encode()) <= budget_bytes else parts[0]


def blockers_of(database: Database, project: str, *, resolved: bool = False) -> list[TaskBlocker]:
    """Return the active blockers of *project*, with *resolved* the resolved ones as well."""
    with database.reading() as connection:
        rows = connection.execute(_BLOCKERS, (project, resolved)).fetchall()
    return [
        TaskBlocker(task, blocker, impact, resolution, tuple(msgspec.json.decode(tasks)), *rest)
        for task, blocker, impact, resolution, tasks, *rest in rows
    ]


def blocked_tasks(database: Database, project: str) -> dict[str, list[str]]:
    """Return the blocked tasks, each with its active blockers."""
    blocked: dict[str, list[str]] = {}
    for blocker in blockers_of(database, project):
        for task in blocker.blocking_tasks:
            blocked.setdefault(task_key(task), []).append(blocker.blocker)
    return blocked


def files_of(database: Database, project: str, task: str) -> list[MappedFile]:
    """Return the entries of the context map that *task* wrote last."""
    with database.reading() as connection:
        rows = connection.execute(
            "select location, component, notes from flow_context_map "
            "where project = ? and task_key = ? order by location",
            (project, task_key(task)),
        ).fetchall()
    return [MappedFile(*row) for row in rows]


def _context(task_id: str, task_name: str, key: str, body: str, file: str, is_foreign: int) -> TaskContext:
    # A task's id is shown as in its file; a task without one by its id in the graph.
    task = TaskRef(id=task_id.removeprefix("task-") or key.removeprefix("task-"), name=task_name)
    block = msgspec.json.decode(body, type=HandoffBlock)
    return TaskContext(task, block, file if is_foreign else "")
