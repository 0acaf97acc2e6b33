"""The journal: facts and read positions, together or not at all."""

import time

import pytest

from flowd.model.facts import Compacted, Fact, Titled, state_fact
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.journal import Batch, Journal
from flowd.store.sources import Source


def source(offset: int) -> Source:
    return Source(device=1, inode=2, fingerprint="f", path="/t.jsonl", session_id="s", offset=offset)


def batch_of(*facts: Fact, position: Source | None = None) -> Batch:
    batch = Batch()
    batch.facts.extend(facts)
    if position is not None:
        batch.add_source(position)
    return batch


def state(title: str) -> Fact:
    return state_fact(SessionState(session_id="s", title=title))


def titled(title: str) -> Fact:
    return Fact(f"s:titled:{title}", "s", "", 1.0, Titled(title))


def test_facts_and_cursor_are_read_back_as_stored(database: Database) -> None:
    batch = batch_of(titled("a"), state("a"), position=source(10))
    batch.memories["s"] = b"memory"
    batch.counters["lines"] += 3
    assert Journal(database).commit(batch) == 2
    journal = Journal(database)
    assert [(fact.seq, fact.body) for fact in journal.facts_after(0, 9)] == [
        (1, titled("a").body),
        (2, state("a").body),
    ]
    assert journal.sources()[0].unpack().offset == 10
    assert journal.memory("s") == b"memory"
    assert journal.counters() == {"lines": 3, "facts": 2}


def test_an_error_in_the_middle_keeps_neither_fact_nor_cursor_nor_counter(database: Database) -> None:
    journal = Journal(database)
    journal.commit(batch_of(titled("a"), position=source(10)))
    broken = batch_of(titled("b"), Fact("k", "s", "", object(), Titled("c")), position=source(20))  # type: ignore[arg-type]  # what a bug would do
    broken.counters["lines"] += 1
    with pytest.raises(Exception, match="not supported"):
        journal.commit(broken)
    assert [fact.body for fact in journal.facts_after(0, 9)] == [titled("a").body]
    assert [kept.unpack().offset for kept in journal.sources()] == [10]
    assert journal.counters() == {"facts": 1}
    assert journal.commit(batch_of(titled("d"))) == 2


def test_a_newer_state_replaces_the_older_one_under_a_new_number(database: Database) -> None:
    journal = Journal(database)
    journal.commit(batch_of(state("old"), titled("x")))
    assert journal.commit(batch_of(state("new"))) == 3
    assert [(fact.seq, fact.kind) for fact in journal.facts_after(0, 9)] == [(2, "titled"), (3, "state")]


def test_a_number_that_was_given_never_comes_back(database: Database) -> None:
    """A sink that has passed it would never see the fact."""
    journal = Journal(database)
    journal.commit(batch_of(state("1")))
    with database.transaction() as connection:
        connection.execute("delete from flow_facts")
    assert journal.commit(batch_of(state("2"))) == 2


def test_a_discrete_fact_told_twice_is_one_fact(database: Database) -> None:
    journal = Journal(database)
    fact = Fact("s:compacted:u", "s", "", 1.0, Compacted("auto", 5))
    assert journal.commit(batch_of(fact)) == 1
    assert journal.commit(batch_of(fact)) == 0
    assert len(journal.facts_after(0, 9)) == 1
    assert journal.counters()["facts"] == 1


def test_facts_are_given_in_order_and_no_more_than_asked_for(database: Database) -> None:
    journal = Journal(database)
    journal.commit(batch_of(*(titled(str(number)) for number in range(5))))
    assert [fact.seq for fact in journal.facts_after(2, 2)] == [3, 4]
    assert journal.newest() == 5


def test_a_source_is_one_row_however_often_it_is_stored(database: Database) -> None:
    journal = Journal(database)
    position = source(1)
    for position.offset in (1, 2, 3):
        journal.commit(batch_of(position=position))
    assert [kept.unpack().offset for kept in journal.sources()] == [3]


def test_replaced_sources_are_kept_but_not_loaded(database: Database) -> None:
    position = source(1)
    position.state = "replaced"
    Journal(database).commit(batch_of(position=position))
    assert Journal(database).sources() == []
    assert database.connection().execute("select count(*) from flow_sources").fetchone() == (1,)


def test_activity_of_the_future_in_core_db_is_that_of_the_file(database: Database) -> None:
    """An earlier version stored it; it would hide all later sessions."""
    journal, an_hour_ago = Journal(database), time.time() - 3600
    state = SessionState(session_id="s1", project="/shop", last_activity_at=4e9, touched_at=an_hour_ago)
    journal.append(state_fact(state))
    (found,) = journal.states_of("/shop", "", 10)
    assert found.last_activity_at == found.touched_at == an_hour_ago


def test_a_row_that_cannot_be_decoded_is_passed_over(database: Database) -> None:
    journal = Journal(database)
    for session in ("s1", "s2", "s3"):
        journal.append(state_fact(SessionState(session_id=session, project="/shop", last_activity_at=1.0)))
    with database.transaction() as connection:
        connection.execute("update flow_facts set body = '{\"type\": 5}' where session_id = 's2'")
    assert {fact.session_id for fact in journal.facts_after(0, 10)} == {"s1", "s3"}
    assert {state.session_id for state in journal.latest_states(10)} == {"s1", "s3"}


def test_a_nul_in_core_db_is_replaced(database: Database) -> None:
    """An earlier version stored it, and the system refuses every path with one."""
    journal = Journal(database)
    journal.append(
        state_fact(SessionState(session_id="s1", project="/shop\0", cwd="/shop\0", last_activity_at=1.0))
    )
    (fact,) = journal.facts_after(0, 10)
    assert fact.project == "/shop\ufffd"
    (found,) = journal.latest_states(10)
    assert (found.cwd, found.project) == ("/shop\ufffd", "/shop\ufffd")
