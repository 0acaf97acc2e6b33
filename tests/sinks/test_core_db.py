"""flow_sessions: one row per session, as of its newest state."""

from pathlib import Path

import msgspec

from flowd.model.facts import Fact, Titled, state_fact
from flowd.model.session import SessionState
from flowd.sinks.core_db import CoreDbSink
from flowd.store.database import Database


def numbered(seq: int, **fields: object) -> Fact:
    state = SessionState(session_id="s1", **fields)  # type: ignore[arg-type]  # fields of the state
    return msgspec.structs.replace(state_fact(state), seq=seq)


def rows(database: Database) -> list[tuple[object, ...]]:
    return database.connection().execute("select session_id, title, seq from flow_sessions").fetchall()


def test_a_session_has_one_row_with_its_newest_state(database: Database) -> None:
    sink = CoreDbSink(database)
    for seq, title in ((1, "a"), (3, "b")):
        sink.accept(numbered(seq, title=title))
    sink.flush()
    assert rows(database) == [("s1", "b", 3)]


def test_an_older_state_that_comes_late_changes_nothing(database: Database) -> None:
    sink = CoreDbSink(database)
    for seq, title in ((3, "new"), (1, "old")):
        sink.accept(numbered(seq, title=title))
        sink.flush()
    assert rows(database) == [("s1", "new", 3)]


def test_nothing_is_written_before_the_flush(database: Database, tmp_path: Path) -> None:
    sink = CoreDbSink(database)
    sink.accept(numbered(1))
    assert rows(database) == []
    sink.flush()
    assert len(rows(database)) == 1


def test_the_row_holds_the_columns_other_programs_ask_for_and_no_state(database: Database) -> None:
    sink = CoreDbSink(database)
    sink.accept(numbered(1, project="/p", branch="main", goal="g", compactions=2))
    sink.flush()
    found = database.connection().execute("select * from flow_sessions")
    row = dict(zip([column[0] for column in found.description], found.fetchone(), strict=True))
    assert (row["project"], row["branch"], row["compactions"]) == ("/p", "main", 2)
    assert "state" not in row


def test_only_states_are_for_this_sink(database: Database) -> None:
    assert CoreDbSink(database).key(Fact("k", "s1", "", 0.0, Titled("t"))) is None
