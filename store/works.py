"""flow_works and flow_contributions: the works of each project, and what each session contributed to them."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import msgspec

from flowd.model.facts import Fact, HandoffIndexed, StepEdited, UserFieldsSaved, WorkChanged
from flowd.model.summary import Summary
from flowd.model.work import Assignment, Contribution, DocumentSteps, StepEdit, UserWords, Work
from flowd.store.database import Database
from flowd.store.handoff_fields import HandoffYamlState, HandoffYamlStates, folder_identity
from flowd.store.journal import Journal
from flowd.store.summaries import Summaries
from flowd.workspace.project import Project

MAX_DOCUMENTS = 20

_encode = msgspec.json.Encoder().encode
_work = msgspec.json.Decoder(Work).decode
_assignment = msgspec.json.Decoder(Assignment).decode

_PUT_WORK = (
    "insert or replace into flow_works (id, project, repository, goal, status, touched_at, body) "
    "values (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_CONTRIBUTION = (
    "insert or replace into flow_contributions (session_id, project, work, role, last_activity_at, body) "
    "values (?, ?, ?, ?, ?, ?)"
)


Kept = TypeVar("Kept", Work, Contribution)


class WorkRows(NamedTuple):
    """The rows to store for the works of one project."""

    works: Iterable[Work] = ()
    assignments: Iterable[Assignment] = ()
    removed: Iterable[str] = ()


class Works:
    """Reads and writes the works in core.db, as derived from sessions without the user's fields."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._journal = Journal(database)

    def of_project(self, project: str) -> list[Work]:
        """Return the works of *project*, latest first."""
        return self._works("project = ?", project)

    def of_repository(self, repository: str) -> list[Work]:
        """Return the works of all worktrees of *repository*, latest first."""
        return self._works("repository = ? and repository != ''", repository)

    def of_clones(self, project: str) -> list[Work]:
        """Return the works of other clones of *project*'s repository, latest first."""
        clones = HandoffYamlStates(self._database).at_another_place(project)
        works = [work for clone in clones for work in self.of_project(clone.project)]
        return sorted(works, key=lambda work: -work.touched_at)

    def move(self, former: HandoffYamlState, place: Project) -> None:
        """Give what is kept of the place *former*, which is gone, to *place*."""
        works = [_at(place, work) for work in self.of_project(former.project)]
        assignments = [
            msgspec.structs.replace(one, contribution=_at(place, one.contribution))
            for one in self.assignments(former.project)
        ]
        folder = former.folder if former.folder == folder_identity(place.root) else ""
        with self._database.transaction() as connection:
            put_works(connection, WorkRows(works, assignments))
            connection.execute(
                "update or replace flow_handoffs set project = ?, folder = ? where project = ?",
                (place.root, folder, former.project),
            )
            for name in ("words", "trust"):
                connection.execute(
                    "update or ignore flow_facts set key = ?, project = ? where key = ?",
                    (f"{name}:{place.root}", place.root, f"{name}:{former.project}"),
                )

    def everywhere(self) -> list[Work]:
        """Return all works, latest first."""
        return self._works("? = ''", "")

    def exists(self, work_id: str) -> bool:
        """Return True if the work with that id is still kept."""
        with self._database.reading() as connection:
            found = connection.execute("select 1 from flow_works where id = ?", (work_id,)).fetchone()
        return found is not None

    def assignments(self, project: str) -> list[Assignment]:
        """Return what the sessions of *project* contributed, and to which work each belongs."""
        with self._database.reading() as connection:
            rows = connection.execute("select body from flow_contributions where project = ?", (project,))
            return [_assignment(body) for (body,) in rows]

    def edits(self) -> list[StepEdit]:
        """Return what people did to steps, oldest first."""
        facts = sorted(self._journal.facts_of_kind("step"), key=lambda fact: fact.at)
        return [
            msgspec.structs.replace(fact.body.edit, at=fact.at)
            for fact in facts
            if isinstance(fact.body, StepEdited)
        ]

    def words(self, project: str) -> dict[str, UserWords]:
        """Return the fields that the user saved, by work; saved without one they are under ``""``."""
        fact = self._journal.fact(f"words:{project}")
        if fact is None or not isinstance(fact.body, UserFieldsSaved):
            return {}
        said = {field: value for field, value in fact.body.said.items() if isinstance(value, str)}
        return {fact.body.work: UserWords(said, {field: fact.body.at.get(field, fact.at) for field in said})}

    def written_steps(self, project: str) -> DocumentSteps | None:
        """Return the open items of the newest handoff of *project* that flowd did not write itself."""
        facts = self._journal.facts_of_project(project, "handoff", MAX_DOCUMENTS)
        for fact in sorted(facts, key=lambda fact: -fact.at):
            if isinstance(fact.body, HandoffIndexed) and not fact.body.is_auto:
                return DocumentSteps(fact.body.open_items, fact.at, fact.session_id)
        return None

    def summaries(self, project: str) -> dict[str, Summary]:
        """Return what a model made of the works of *project*, by work."""
        return Summaries(self._database).latest(project)

    def user_version(self) -> tuple[float, ...]:
        """Return numbers that change with saved fields, edited steps, handoffs, and what a model answers."""
        with self._database.reading() as connection:
            row = connection.execute(
                "select (select max(at) from flow_facts where kind = 'words'), "
                "(select max(at) from flow_facts where kind = 'step'), "
                "(select max(seq) from flow_facts where kind = 'handoff'), "
                "(select id * 2 + (body != '') from flow_summaries order by id desc limit 1), "
                "(select max(id) from flow_consents)"
            ).fetchone()
        return tuple(value or 0.0 for value in row)

    def _works(self, where: str, value: str) -> list[Work]:
        with self._database.reading() as connection:
            rows = connection.execute(
                f"select body from flow_works where {where} order by touched_at desc",  # noqa: S608 constants
                (value,),
            )
            return [_work(body) for (body,) in rows]


def _at(place: Project, kept: Kept) -> Kept:
    """Return a work or a contribution as one of *place*."""
    return msgspec.structs.replace(
        kept, project=place.root, repository=place.repository, worktree=place.worktree
    )


def put_works(connection: sqlite3.Connection, rows: WorkRows) -> None:
    """Write *rows* within the transaction of *connection*."""
    connection.executemany("delete from flow_works where id = ?", [(work_id,) for work_id in rows.removed])
    connection.executemany("delete from flow_facts where key = ?", [(f"work:{one}",) for one in rows.removed])
    connection.executemany(_PUT_WORK, [_work_row(work) for work in rows.works])
    connection.executemany(_PUT_CONTRIBUTION, [_contribution_row(one) for one in rows.assignments])


def work_fact(work: Work) -> Fact:
    """Return the fact that records *work*; its key is the work, so that a newer one replaces it."""
    return Fact(f"work:{work.id}", work.session_id, work.project, work.touched_at, WorkChanged(work))


def _work_row(work: Work) -> tuple[object, ...]:
    body = _encode(work).decode()
    return work.id, work.project, work.repository, work.goal, work.status, work.touched_at, body


def _contribution_row(one: Assignment) -> tuple[object, ...]:
    given = one.contribution
    body = _encode(one).decode()
    return given.session_id, given.project, one.work, one.role, given.last_activity_at, body
