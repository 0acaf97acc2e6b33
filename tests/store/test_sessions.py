"""The sessions of a project: found by flow_sessions, never older than the journal."""

import pytest

from flowd.model.facts import state_fact
from flowd.model.session import SessionState
from flowd.sinks.core_db import CoreDbSink
from flowd.store.database import Database
from flowd.store.deliveries import Deliveries
from flowd.store.journal import Journal
from flowd.store.sessions import SINK


class Sessions:
    """A journal and the sink that follows it, as the daemon runs them."""

    def __init__(self, database: Database) -> None:
        self.journal = Journal(database)
        self._deliveries = Deliveries(database)
        self._sink = CoreDbSink(database)

    def append(self, session_id: str, project: str, repository: str = "", title: str = "") -> None:
        state = SessionState(
            session_id=session_id, project=project, repository=repository or project, title=title
        )
        self.journal.append(state_fact(state))

    def deliver(self) -> None:
        cursor, _ = self._deliveries.cursor(SINK)
        facts = self.journal.facts_after(cursor, 1000)
        for fact in facts:
            self._sink.accept(fact)
        self._sink.flush()
        self._deliveries.advance(SINK, facts[-1].seq, 0)

    def found(self, project: str, repository: str = "") -> list[str]:
        states = self.journal.states_of(project, repository or project, 9)
        return [state.title or state.session_id for state in states]


@pytest.fixture
def sessions(database: Database) -> Sessions:
    return Sessions(database)


def test_the_sessions_of_a_project_are_found_before_the_sink_has_seen_them(sessions: Sessions) -> None:
    sessions.append("s1", "/p")
    assert sessions.found("/p") == ["s1"]


def test_they_are_found_afterwards_without_those_of_other_projects(sessions: Sessions) -> None:
    sessions.append("s1", "/p")
    sessions.append("s2", "/q")
    sessions.deliver()
    assert sessions.found("/p") == ["s1"]


def test_a_state_is_as_new_as_the_journal_however_far_behind_the_sink_is(sessions: Sessions) -> None:
    sessions.append("s1", "/p", title="old")
    sessions.deliver()
    sessions.append("s1", "/p", title="new")
    assert sessions.found("/p") == ["new"]


def test_a_session_that_moved_to_another_project_is_no_longer_found_in_the_first(sessions: Sessions) -> None:
    sessions.append("s1", "/p")
    sessions.deliver()
    sessions.append("s1", "/q")
    assert (sessions.found("/p"), sessions.found("/q")) == ([], ["s1"])
    sessions.deliver()
    assert (sessions.found("/p"), sessions.found("/q")) == ([], ["s1"])


def test_sessions_of_other_worktrees_come_after_those_of_the_project(sessions: Sessions) -> None:
    sessions.append("s1", "/w", repository="/repo")
    sessions.append("s2", "/p", repository="/repo")
    for _ in range(2):
        assert sessions.found("/p", "/repo") == ["s2", "s1"]
        sessions.append("s3", "/elsewhere")
        sessions.deliver()


def test_the_lookup_reads_indexes_and_no_whole_table(sessions: Sessions, database: Database) -> None:
    """With ten thousand sessions a scan parses the JSON of every state."""
    steps: list[str] = []
    connection = database.connection()
    connection.set_trace_callback(steps.append)
    sessions.found("/p")
    connection.set_trace_callback(None)
    (query,) = [step for step in steps if "flow_sessions" in step]
    plan = [row[3] for row in connection.execute("explain query plan " + query)]
    assert not [step for step in plan if step.startswith("SCAN flow_")]
