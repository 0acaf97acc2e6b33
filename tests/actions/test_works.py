"""Works are kept in the transaction that stores what is read, and survive everything that facts survive."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from flowd.actions.brief import BriefingRequest, compose
from flowd.actions.works import WorkUpdater, open_works
from flowd.model.facts import WorkChanged, state_fact
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.handoff_fields import user_fields_fact
from flowd.store.journal import Batch, Journal
from flowd.store.migrations import migrate
from flowd.store.works import Works
from tests.support.released_schemas import make_released
from tests.support.repository import ROOT

NOW = time.time()


def session(project: Path, name: str, age_s: float, **fields: object) -> SessionState:
    known: dict[str, object] = {"started_at": NOW - age_s - 60, "last_activity_at": NOW - age_s, **fields}
    return SessionState(session_id=name, project=str(project), **known)  # type: ignore[arg-type]


def read(updater: WorkUpdater, database: Database, *states: SessionState) -> list[WorkChanged]:
    batch = Batch()
    batch.facts.extend(state_fact(state) for state in states)
    updater.update(batch)
    Journal(database).commit(batch)
    return [fact.body for fact in batch.stored if isinstance(fact.body, WorkChanged)]


def test_a_session_with_edits_is_a_work_and_a_visitor_changes_none(database: Database, project: Path) -> None:
    updater = WorkUpdater(database)
    real = session(project, "real", 600, goal="Mend the parser", files=("parser.py", "lexer.py"))
    (told,) = read(updater, database, real)
    assert told.work.goal == "Mend the parser"
    assert (
        read(updater, database, session(project, "trivial", 60, goal="4", now="4", status="completed")) == []
    )
    assert [work.goal for work in Works(database).of_project(str(project))] == ["Mend the parser"]


def test_a_restart_goes_on_with_the_works_that_are_stored(database: Database, project: Path) -> None:
    read(WorkUpdater(database), database, session(project, "a", 600, goal="Mend it", files=("a.py", "b.py")))
    (told,) = read(
        WorkUpdater(database), database, session(project, "b", 60, goal="More", files=("a.py", "c.py"))
    )
    assert told.work.sessions == ("a", "b")
    assert told.work.goal == "Mend it"


def test_works_closed_for_their_number_are_opened_again(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.actions.works.MAX_OPEN_SESSIONS", 1)
    updater = WorkUpdater(database)
    projects = [tmp_path / name for name in ("one", "two", "three")]
    for age in (600, 60):
        for project in projects:
            project.mkdir(exist_ok=True)
            read(updater, database, session(project, f"{project.name}{age}", age, files=("a.py", "b.py")))
    for project in projects:
        (work,) = Works(database).of_project(str(project))
        assert work.sessions == (f"{project.name}600", f"{project.name}60")


def test_a_project_stays_open_for_a_whole_batch(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.actions.works.MAX_OPEN_SESSIONS", 0)
    one, two = tmp_path / "one", tmp_path / "two"
    states = []
    for age, project in ((900, one), (600, two), (60, one)):
        project.mkdir(exist_ok=True)
        states.append(session(project, f"{project.name}{age}", age, files=("a.py", "b.py")))
    read(WorkUpdater(database), database, *states)
    (work,) = Works(database).of_project(str(one))
    assert work.sessions == ("one900", "one60")


def test_works_are_formed_from_the_sessions_of_an_older_core_db(database: Database, project: Path) -> None:
    journal = Journal(database)
    old = session(project, "old", 900, goal="Ship login — now: Add a test", files=("login.py", "token.py"))
    journal.append(state_fact(old))
    journal.append(state_fact(session(project, "trivial", 60, goal="What is 2+2?", now="4")))
    (work,) = open_works(database, str(project)).works
    assert (work.goal, work.request, work.sessions) == ("Ship login", "Add a test", ("old",))
    assert Works(database).of_project(str(project)) == [work]


def test_a_batch_that_was_not_stored_leaves_nothing_behind(database: Database, project: Path) -> None:
    updater, batch = WorkUpdater(database), Batch()
    batch.facts.append(state_fact(session(project, "lost", 60, goal="Lost", files=("a.py", "b.py"))))
    updater.update(batch)
    updater.forget()
    assert Works(database).of_project(str(project)) == []
    (told,) = read(updater, database, session(project, "kept", 30, goal="Kept", files=("a.py", "b.py")))
    assert told.work.sessions == ("kept",)


def test_a_session_that_ends_as_a_one_off_gives_the_place_back(database: Database, project: Path) -> None:
    updater = WorkUpdater(database)
    read(updater, database, session(project, "real", 600, goal="Mend it", files=("a.py", "b.py")))
    once = session(project, "once", 60, goal="Add a licence", files=("LICENSE",))
    (begun,) = read(updater, database, once)
    assert begun.work.goal == "Add a licence"
    (left,) = read(updater, database, msgspec.structs.replace(once, status="completed"))
    assert left.work.goal == "Mend it"
    assert Journal(database).fact(f"work:{begun.work.id}") is None


def test_a_core_db_of_0_1_0_is_told_as_works(tmp_path: Path, project: Path) -> None:
    path = make_released("0003_index_changed_words", tmp_path / "old" / "core.db")
    rows = (ROOT / "tests" / "data" / "core-0.1.0.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from flow_facts")
        connection.executescript(rows.replace("/home/ada/shop", str(project)))
    migrate(path)
    database = Database(path)
    (work,) = open_works(database, str(project)).works
    assert work.goal == "Write a CSV exporter for the orders in exporter.py"
    assert work.sessions == ("monday", "tuesday")
    assert [step.text for step in work.steps] == ["Document the exporter in docs/export.md"]
    assert (work.status, work.now) == ("in_progress", "Ask Eva about rounding")
    text = compose(database, BriefingRequest(cwd=str(project), session_id="new", source="startup")).text
    assert "- Document the exporter in docs/export.md" in text
    assert "**Now:** Ask Eva about rounding" in text
    assert "**Hypothesis:** VAT is rounded per line" in text
    assert "2+2" not in text
    assert "what were we doing" not in text
    database.close()


def test_a_goal_saved_before_any_session_stands_for_the_first_work(database: Database, project: Path) -> None:
    """Also for a daemon that was asked about the project before there was any work."""
    updater = WorkUpdater(database)
    visit = session(project, "visit", 900)
    read(updater, database, visit)
    Journal(database).append(user_fields_fact(Journal(database), str(project), {"goal": "Open the shop"}, ""))
    real = session(project, "real", -5, goal="Mend the parser", files=("parser.py", "lexer.py"))
    (told,) = read(updater, database, real)
    assert told.work.goal == "Open the shop"
