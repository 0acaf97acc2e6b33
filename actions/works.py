"""The works of a project: opened from core.db, formed from its sessions where there are none yet."""

from flowd.extractors.work.project_works import Changes, ProjectWorks
from flowd.model.facts import Fact
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.journal import Batch, Journal
from flowd.store.works import WorkRows, Works, put_works, work_fact

# How many sessions of a core.db from before works were kept are looked at.
SESSIONS_FORMED = 60


def open_works(database: Database, project: str) -> ProjectWorks:
    """Return the works of *project*; those of a core.db that has none yet are formed and stored."""
    store = Works(database)
    opened = ProjectWorks(store.of_project(project), store.assignments(project))
    if not opened.is_known:
        _form(database, project, opened)
    refresh_user_words(store, project, opened)
    return opened


def refresh_user_words(store: Works, project: str, works: ProjectWorks) -> None:
    """Bring *works* up to what a person has said and done about them."""
    works.edits = store.edits()
    works.words = store.words(project, works.works)


def take_session(works: ProjectWorks, state: SessionState, batch: Batch) -> list[Fact]:
    """Take *state* into *works*; store what it changes with *batch*, return the facts that say so."""
    changes = works.take(state)
    batch.also.append(lambda connection: put_works(connection, _rows(changes)))
    return [work_fact(works.with_user_edits(work)) for work in changes.works.values()]


def _form(database: Database, project: str, works: ProjectWorks) -> None:
    journal, batch = Journal(database), Batch()
    states = journal.states_of(project, "", SESSIONS_FORMED)
    for state in sorted(states, key=lambda one: one.started_at):
        take_session(works, state, batch)
    if batch.also:
        journal.commit(batch)


def _rows(changes: Changes) -> WorkRows:
    return WorkRows(changes.works.values(), changes.assignments.values(), changes.removed)
