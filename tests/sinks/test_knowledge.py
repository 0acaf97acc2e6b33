"""The knowledge sink on a real core.db: idempotent, relative to the project, blocks before insights."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.handoff.block_find import blocks_in_markdown
from flowd.sinks.knowledge import Knowledge
from flowd.store.database import Database
from flowd.store.facts import BlockFound, Fact, Insight, SessionState, Titled, state_fact
from flowd.store.journal import body_from_text, body_text
from flowd.store.knowledge_search import Query, known_of, search
from flowd.store.migrations import migrate

PROJECT = "/home/someone/shop"
TEXT = "# Task 1: Till\n## Handoff\noutcome: completed\ngotchas:\n  - issue: The till beeps\n"


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    migrate(tmp_path / "core.db")
    database = Database(tmp_path / "core.db")
    yield database
    database.close()


def block_fact(text: str = TEXT, file: str = f"{PROJECT}/tasks/task-1.md", at: float = 5.0) -> Fact:
    (found,) = blocks_in_markdown(text)
    body = BlockFound(found=found, file=file, record="r")
    return Fact(key=f"k:{at}", session_id="s", project=PROJECT, at=at, body=body_from_text(body_text(body)))


def test_a_block_that_went_through_the_journal_is_applied_with_its_place(database: Database) -> None:
    sink = Knowledge(database)
    for _ in range(2):
        sink.accept(block_fact())
    sink.flush()
    (gotcha,) = search(database, Query(words="beeps"))
    assert gotcha.mentions == 1
    place = known_of(database, gotcha).told[0].provenance
    assert (place.session_id, place.record, place.file, place.at) == ("s", "r", "tasks/task-1.md", 5.0)


def test_no_block_is_left_out_for_a_newer_one_and_of_states_only_the_newest_counts(
    database: Database,
) -> None:
    sink = Knowledge(database)
    assert sink.key(block_fact(at=1.0)) != sink.key(block_fact(at=2.0))
    state = SessionState(session_id="s", project=PROJECT, insights=(Insight("learning", "Beeps are loud"),))
    assert sink.key(state_fact(state)) == "insights:s"
    assert sink.key(state_fact(SessionState(session_id="s"))) is None
    assert sink.key(Fact(key="t", session_id="s", project="", at=0.0, body=Titled("x"))) is None


def test_insights_of_a_state_enter_below_blocks(database: Database) -> None:
    sink = Knowledge(database)
    sink.accept(block_fact())
    insights = (Insight("learning", "The till beeps on Mondays", record="r7", line=70),)
    sink.accept(state_fact(SessionState(session_id="s", project=PROJECT, insights=insights)))
    gotcha, insight = search(database, Query(words="till beeps"))
    assert (gotcha.type, insight.type) == ("gotcha", "insight")
    assert insight.weight < gotcha.weight
    assert known_of(database, insight).told[0].provenance.line == 70
