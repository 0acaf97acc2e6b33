"""The knowledge sink on a real core.db: idempotent, relative to the project, blocks before insights."""

from collections.abc import Callable
from pathlib import Path

import pytest

from flowd.handoff.block.find import blocks_in_markdown
from flowd.handoff.markdown.directory import stat_handoff
from flowd.handoff.markdown.index import parse_file
from flowd.model.facts import BlockFound, Fact, Titled, state_fact
from flowd.model.session import Insight, SessionState
from flowd.sinks.knowledge import SESSIONS_PER_TRANSACTION, KnowledgeSink
from flowd.store.database import Database
from flowd.store.documents import indexed_fact
from flowd.store.journal import body_from_text, body_text
from flowd.store.knowledge.intake import block_errors
from flowd.store.knowledge.search import NodeQuery, known_of, search
from flowd.store.migrations import migrate
from flowd.system.errors import StoreError

PROJECT = "/home/someone/shop"
TEXT = "# Task 1: Till\n## Handoff\noutcome: completed\ngotchas:\n  - issue: The till beeps\n"


def block_fact(text: str = TEXT, file: str = f"{PROJECT}/tasks/task-1.md", at: float = 5.0) -> Fact:
    (found,) = blocks_in_markdown(text)
    body = BlockFound(found=found, file=file, record="r")
    return Fact(key=f"k:{at}", session_id="s", project=PROJECT, at=at, body=body_from_text(body_text(body)))


def insight_fact(text: str = "Beeps are loud", session_id: str = "s", at: float = 5.0) -> Fact:
    insights = (Insight("learning", text),)
    return state_fact(
        SessionState(session_id=session_id, project=PROJECT, insights=insights, last_activity_at=at)
    )


def deliver(sink: KnowledgeSink, *facts: Fact) -> None:
    for fact in facts:
        sink.accept(fact)
    sink.flush()


def version(database: Database) -> int:
    """Return a number that changes with every write, for this thread only reads."""
    number: int = database.connection().execute("pragma data_version").fetchone()[0]
    return number


def statements_of(database: Database, action: Callable[[], None]) -> list[str]:
    said: list[str] = []
    database.connection().set_trace_callback(said.append)
    action()
    database.connection().set_trace_callback(None)
    return said


def replace_core_db(database: Database) -> None:
    """Put an empty core.db in the place of the one there is, as a person may."""
    for file in database.path.parent.glob("core.db*"):
        file.unlink()
    migrate(database.path)


def test_a_block_that_went_through_the_journal_is_applied_with_its_place(database: Database) -> None:
    sink = KnowledgeSink(database)
    for _ in range(2):
        sink.accept(block_fact())
    sink.flush()
    (gotcha,) = search(database, NodeQuery(words="beeps"))
    assert gotcha.mentions == 1
    place = known_of(database, gotcha).told[0].provenance
    assert (place.session_id, place.record, place.file, place.at) == ("s", "r", "tasks/task-1.md", 5.0)


def test_no_block_is_left_out_for_a_newer_one_and_of_states_only_the_newest_counts(
    database: Database,
) -> None:
    sink = KnowledgeSink(database)
    assert sink.key(block_fact(at=1.0)) != sink.key(block_fact(at=2.0))
    state = SessionState(session_id="s", project=PROJECT, insights=(Insight("learning", "Beeps are loud"),))
    assert sink.key(state_fact(state)) == "insights:s"
    assert sink.key(state_fact(SessionState(session_id="s"))) is None
    assert sink.key(Fact(key="t", session_id="s", project="", at=0.0, body=Titled("x"))) is None


def test_insights_of_a_state_enter_below_blocks(database: Database) -> None:
    sink = KnowledgeSink(database)
    sink.accept(block_fact())
    insights = (Insight("learning", "The till beeps on Mondays", record="r7", line=70),)
    sink.accept(state_fact(SessionState(session_id="s", project=PROJECT, insights=insights)))
    sink.flush()
    gotcha, insight = search(database, NodeQuery(words="till beeps"))
    assert (gotcha.type, insight.type) == ("gotcha", "insight")
    assert insight.weight < gotcha.weight
    assert known_of(database, insight).told[0].provenance.line == 70


def test_what_many_sessions_found_is_in_core_db_when_flushed(database: Database) -> None:
    count = SESSIONS_PER_TRANSACTION * 2 + 7
    deliver(KnowledgeSink(database), *(insight_fact(session_id=f"s{number}") for number in range(count)))
    other = Database(database.path)
    (node,) = search(other, NodeQuery(words="loud"))
    assert node.mentions == count
    other.close()


def test_a_session_that_found_nothing_new_costs_no_statement(database: Database) -> None:
    sink = KnowledgeSink(database)
    deliver(sink, insight_fact(at=5.0))
    assert statements_of(database, lambda: deliver(sink, insight_fact(at=6.0))) == []
    deliver(sink, insight_fact("Beeps annoy", at=7.0))
    assert {node.summary for node in search(database, NodeQuery(type="insight"))} == {
        "Beeps are loud",
        "Beeps annoy",
    }


def test_only_so_many_sessions_are_remembered_and_the_others_looked_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.sinks.knowledge.MAX_REMEMBERED", 1)
    sink = KnowledgeSink(database)
    facts = [insight_fact(session_id="a"), insight_fact(session_id="b")]
    deliver(sink, *facts)
    assert statements_of(database, lambda: deliver(sink, facts[1])) == []
    before = version(database)
    assert statements_of(database, lambda: deliver(sink, facts[0])) != []
    assert version(database) == before


def test_another_core_db_is_told_what_the_one_before_was(database: Database) -> None:
    sink = KnowledgeSink(database)
    deliver(sink, insight_fact())
    replace_core_db(database)
    with pytest.raises(StoreError):
        sink.accept(insight_fact())
    database.drop_connection()
    deliver(sink, insight_fact())
    assert len(search(database, NodeQuery(words="loud"))) == 1


def test_what_was_accepted_before_core_db_failed_waits_for_its_next_delivery(database: Database) -> None:
    sink = KnowledgeSink(database)
    sink.accept(insight_fact())
    replace_core_db(database)
    with pytest.raises(StoreError):
        sink.accept(block_fact())
    database.drop_connection()
    sink.flush()
    assert search(database, NodeQuery(words="loud")) == []
    deliver(sink, insight_fact(), block_fact())
    assert len(search(database, NodeQuery(words="loud"))) == 1


DOCUMENT = """\
# Handoff — 2026-03-01

session_id: s
purpose: Ship login

## Next
- Rotate the keys

## Gotchas
- Clocks drift by a minute

## Risks
- The vault may be full

## Reflection
- Decided: cookies over headers
- Small steps helped
"""


def document_fact(path: Path, text: str = DOCUMENT) -> Fact:
    path.write_text(text)
    file = stat_handoff(str(path))
    assert file is not None
    parsed = parse_file(file)
    assert parsed is not None
    return indexed_fact(parsed, PROJECT)


def test_a_handoff_document_enters_the_graph(database: Database, tmp_path: Path) -> None:
    """Its gotchas, next steps and decisions, with the file as their origin; the next version replaces it."""
    sink = KnowledgeSink(database)
    deliver(sink, document_fact(tmp_path / "a.md"))
    for words, kind in (
        ("drift", "gotcha"),
        ("rotate", "step"),
        ("cookies", "decision"),
        ("vault", "gotcha"),
    ):
        (node,) = search(database, NodeQuery(words))
        assert node.type == kind
        assert known_of(database, node).told[0].provenance.file == str(tmp_path / "a.md")
    deliver(sink, document_fact(tmp_path / "a.md", DOCUMENT.replace("Clocks drift", "Clocks stop").strip()))
    assert search(database, NodeQuery("drift")) == []
    assert [node.summary for node in search(database, NodeQuery("stop"))] == ["Clocks stop by a minute"]


def test_an_automatic_document_adds_nothing(database: Database, tmp_path: Path) -> None:
    """It repeats what its session has told already."""
    text = DOCUMENT.replace("2026-03-01", "2026-03-01 (auto)")
    deliver(KnowledgeSink(database), document_fact(tmp_path / "a.md", text))
    assert search(database, NodeQuery("drift")) == []


WRONG = TEXT.replace("beeps\n", "beeps\n    severity: urgent\n  - issue: The drawer sticks\n")


def test_a_block_with_one_wrong_field_keeps_the_rest(database: Database) -> None:
    deliver(KnowledgeSink(database), block_fact(WRONG))
    assert [node.severity for node in search(database, NodeQuery("beeps"))] == ["medium"]
    assert len(search(database, NodeQuery("drawer"))) == 1


def test_the_errors_of_blocks_are_shown_until_they_are_mended(database: Database) -> None:
    """By file, line, field and rule: what a person needs to mend it."""
    sink = KnowledgeSink(database)
    deliver(sink, block_fact(WRONG))
    (told,) = block_errors(database)
    assert (
        told
        == "/home/someone/shop/tasks/task-1.md: line 6: gotchas[0].severity 'urgent': must be high/medium/low"
    )
    deliver(sink, block_fact(TEXT, at=9.0))
    assert block_errors(database) == []


def test_what_a_person_asked_for_is_no_finding(database: Database) -> None:
    asked = "The user asked: Make the till open slower"
    told = state_fact(
        SessionState(
            session_id="s",
            project=PROJECT,
            insights=(Insight("context", asked), Insight("learning", "The till sensor is inverted")),
            decisions=(asked,),
            last_activity_at=5.0,
        )
    )
    deliver(KnowledgeSink(database), told)
    assert [node.summary for node in search(database, NodeQuery("till"))] == ["The till sensor is inverted"]
