"""The works of a project: opened from core.db, updated with every batch that is read, edited by a person."""

import time
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import msgspec

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.config.logs import log
from flowd.extractors.work.contribution import with_work
from flowd.extractors.work.merge import step_id
from flowd.extractors.work.project_works import Changes, ProjectWorks, current_work
from flowd.model.facts import Checkpointed, Fact, StateChanged, StepEdited, WorkChanged
from flowd.model.session import SessionState
from flowd.model.work import Step, StepAction, StepEdit, Work
from flowd.store.database import Database
from flowd.store.handoff_fields import HandoffYamlStates
from flowd.store.journal import Batch, Journal
from flowd.store.works import WorkRows, Works, put_works, work_fact
from flowd.system.errors import FlowdError
from flowd.workspace.git import committed_at, pushed_at, read_branch
from flowd.workspace.project import resolve_project

# How many sessions of a core.db from before works were kept are looked at.
SESSIONS_FORMED = 60

# Works stay open for projects with this many sessions together: about 5 MB. Opening them again costs a live
# session 0.5 ms a line (benchmark row: append -> core.db).
MAX_OPEN_SESSIONS = 500

PROJECTS_LISTED = 50


def open_works(database: Database, project: str) -> ProjectWorks:
    """Return the works of *project*.

    Without any they are those of the place where the project was before it was moved, renamed or cloned
    again; else they are formed from the sessions that core.db holds.
    """
    store = Works(database)
    opened = _opened(store, project)
    if not opened.is_known and _move_here(database, project):
        opened = _opened(store, project)
    if not opened.is_known:
        _form(database, project, opened)
    refresh_user_words(store, project, opened)
    opened.done_outside = frozenset(
        step.id for work in opened.works for step in work.steps if _is_done_outside(project, work, step)
    )
    return opened


def _is_done_outside(root: str, work: Work, step: Step) -> bool:
    """Return True if the checkout shows that the person has taken care of an upkeep step meanwhile."""
    kind = step.id.partition("-")[0] if step.source == "state" else ""
    if kind == "push":
        return pushed_at(root, work.branch) > step.opened_at
    # After a commit by hand nobody knows which checks it has passed: say nothing.
    return kind in ("commit", "check") and committed_at(root) > step.opened_at


def _opened(store: Works, project: str) -> ProjectWorks:
    return ProjectWorks(store.of_project(project), store.assignments(project))


def _move_here(database: Database, root: str) -> bool:
    """Give *root* the works of the place it was at before; return False if there is no such place."""
    project = resolve_project(root) if Path(root).is_dir() else None
    if project is None:
        return False
    places = HandoffYamlStates(database).at_another_place(root)
    former = next((place for place in places if not Path(place.project).is_dir()), None)
    if former is not None:
        Works(database).move(former, project)
    return former is not None


def refresh_user_words(store: Works, project: str, works: ProjectWorks) -> None:
    """Load the user fields, step edits and summaries of *works* from core.db."""
    works.edits = store.edits()
    works.words = store.words(project)
    works.document = store.written_steps(project)
    works.summaries = store.summaries(project)


def take_session(works: ProjectWorks, state: SessionState, batch: Batch) -> list[Fact]:
    """Take *state* into *works*; store the changes with *batch*, and return their facts."""
    changes = works.take(state)
    batch.also.append(lambda connection: put_works(connection, _rows(changes)))
    changed = dict.fromkeys(changes.works)
    if changes.removed and works.works:  # a projection may show the removed work: offer the latest one again
        changed[works.works[0].id] = None
    return [work_fact(work) for work in works.works if work.id in changed]


def _form(database: Database, project: str, works: ProjectWorks) -> None:
    journal, batch = Journal(database), Batch()
    states = journal.states_of(project, "", SESSIONS_FORMED)
    for state in sorted(states, key=lambda one: one.started_at):
        take_session(works, state, batch)
    if batch.also:
        journal.commit(batch)


def _rows(changes: Changes) -> WorkRows:
    return WorkRows(changes.works.values(), changes.assignments.values(), changes.removed)


class WorkUpdater:
    """Takes every session state of a batch into the works of its project."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._store = Works(database)
        self._open: OrderedDict[str, ProjectWorks] = OrderedDict()
        self._user_version: tuple[float, ...] = ()

    def update(self, batch: Batch) -> None:
        """Add to *batch* what its states change in the works of their projects."""
        states = [fact.body.state for fact in batch.facts if isinstance(fact.body, StateChanged)]
        states = [state for state in states if not state.vanished_at]  # a file that goes changes no work
        self._close_unused()
        self._refresh_user_words()
        found: list[Fact] = []
        for state in sorted(states, key=lambda one: one.started_at):
            if state.project:
                found += self._take(state, batch)
        newest = {fact.key: fact for fact in found if self._is_kept(fact)}
        batch.facts = [self._with_work(fact) for fact in batch.facts] + list(newest.values())
        batch.missed = [self._with_work(fact) for fact in batch.missed]

    def _is_kept(self, fact: Fact) -> bool:
        """Return True unless a later session of the batch has removed the work of *fact*."""
        return not isinstance(fact.body, WorkChanged) or self._works(fact.project).has(fact.body.work.id)

    def _take(self, state: SessionState, batch: Batch) -> list[Fact]:
        try:
            return take_session(self._works(state.project), state, batch)
        except FlowdError:
            raise
        except Exception as error:  # noqa: BLE001 one session must not stop the reading of all others
            batch.counters["work_errors"] += 1
            log.error("work_failed", session=state.session_id, error=repr(error), exc_info=True)
            return []

    def _with_work(self, fact: Fact) -> Fact:
        """Return a checkpoint with the fields of its session's work; any other fact unchanged."""
        body = fact.body
        if not isinstance(body, Checkpointed) or not body.state.project:
            return fact
        works = self._works(body.state.project)
        work = works.work_of(body.state.session_id)
        if work is None:
            is_visitor = works.is_visitor(body.state.session_id)
            return msgspec.structs.replace(fact, body=msgspec.structs.replace(body, is_visitor=is_visitor))
        state = with_work(body.state, work, works.contributions(work.id))
        return msgspec.structs.replace(fact, body=msgspec.structs.replace(body, state=state))

    def forget(self) -> None:
        """Drop what may be ahead of core.db: a batch was not stored."""
        self._open.clear()

    def _refresh_user_words(self) -> None:
        """Apply the user fields saved since the works were opened."""
        version = self._store.user_version()
        if version != self._user_version:
            self._user_version = version
            for name, opened in self._open.items():
                refresh_user_words(self._store, name, opened)

    def _close_unused(self) -> None:
        """Close works beyond the limit, unused for longest first; never while a batch depends on them."""
        sessions = sum(works.sessions for works in self._open.values())
        while sessions > MAX_OPEN_SESSIONS:
            _, closed = self._open.popitem(last=False)
            sessions -= closed.sessions

    def _works(self, project: str) -> ProjectWorks:
        """Return the works of *project*, opened if need be."""
        works = self._open.get(project)
        if works is None:
            works = self._open[project] = open_works(self._database, project)
        self._open.move_to_end(project)
        return works


class NumberedStep(NamedTuple):
    """An open step as a person sees it: by its number."""

    n: int
    step: Step
    work: Work

    @property
    def age_s(self) -> float:
        """How long ago anybody last spoke of the step."""
        return max(0.0, time.time() - (self.step.confirmed_at or self.step.opened_at))


def work_here(works: ProjectWorks, root: str, session_id: str) -> Work | None:
    """Return the work of the session a command runs in, else the current one of the project."""
    found, mine = works.works, session_id
    own = next((work for work in found if mine and mine in work.sessions), None)
    return own or current_work(found, read_branch(root))


def open_steps(context: Context, root: str) -> list[NumberedStep]:
    """Return the open steps of the current work of the project at *root*."""
    work = work_here(open_works(context.database, root), root, context.session_id)
    return _numbered(work) if work else []


def open_steps_everywhere(context: Context) -> list[NumberedStep]:
    """Return the open steps of every work of every project, the latest work first."""
    database = context.database
    latest = dict.fromkeys(work.project for work in Works(database).everywhere())
    works = [work for root in list(latest)[:PROJECTS_LISTED] for work in open_works(database, root).works]
    return [numbered for work in works for numbered in _numbered(work)]


def close_step(context: Context, root: str, number: int, action: StepAction) -> Step:
    """Close the step with that *number* as done or dropped, and return it."""
    found = next((one for one in open_steps(context, root) if one.n == number), None)
    if found is None:
        raise FlowdError(f"there is no step {number}", hint="`flow next` lists the open steps")
    _edit(context, root, found.work, StepEdit(found.work.id, found.step.id, action, found.step.text))
    return found.step


def add_step(context: Context, root: str, text: str) -> Step:
    """Add a step in a person's words to the current work."""
    text = context.redact(text)
    work = work_here(open_works(context.database, root), root, context.session_id)
    if work is None:
        raise FlowdError(
            "steps belong to the work of a session, and no session has worked in this project yet",
            hint='start Claude Code here first; meanwhile `flow save "…"` keeps your words',
        )
    _edit(context, root, work, StepEdit(work.id, step_id(text), "added", text))
    return Step(step_id(text), text, "person", time.time())


def _numbered(work: Work) -> list[NumberedStep]:
    return [NumberedStep(number, step, work) for number, step in enumerate(work.steps, 1)]


def _edit(context: Context, root: str, work: Work, edit: StepEdit) -> None:
    """Store *edit*, and the work as it is afterwards; wake the daemon."""
    # A step may be added and closed: each edit has a separate key.
    key = f"step:{work.id}:{edit.step}:{edit.action}"
    context.journal.append(Fact(key, context.session_id, root, time.time(), StepEdited(edit)))
    changed = next((one for one in open_works(context.database, root).works if one.id == work.id), None)
    if changed:
        context.journal.append(work_fact(changed))
    poke_daemon(context.paths)
