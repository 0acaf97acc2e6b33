"""What a model is sent of a work, and how long what it made of that holds."""

import msgspec
import pytest

from flowd.extractors.work.summary import (
    MAX_DIGEST_CHARACTERS,
    basis_of,
    origin_of,
    summary_digest,
    with_summary,
)
from flowd.model.session import Deeds, Evidence, TurnSummary
from flowd.model.summary import Summary
from flowd.model.work import Contribution, Step, UserWords, Work
from tests.support.story import Story, exporter


def played() -> tuple[Story, Work, list[Contribution]]:
    story = Story()
    story.play(exporter())
    work = story.current()
    return story, work, story.works.contributions(work.id)


def test_a_digest_has_what_was_asked_done_and_left() -> None:
    _, work, given = played()
    digest = summary_digest(work, given)
    for part in (
        "goal (by rules): Write a CSV exporter",
        "branch: main",
        "Add the VAT column to exporter.py [reply]",
        "files: src/exporter.py",
        "last check: pytest: passed",
        "- person: Write a CSV exporter for the orders",
    ):
        assert part in digest


def test_the_same_sessions_give_the_same_digest_in_any_order() -> None:
    story, work, given = played()
    story.play(exporter("tuesday", 2))
    given = story.works.contributions(work.id) or given
    assert summary_digest(work, given) == summary_digest(work, list(reversed(given)))


def test_a_digest_never_exceeds_its_limit() -> None:
    turns = tuple(TurnSummary("ask " * 60, "answer " * 60, is_done=True) for _ in range(60))
    given = [Contribution(session_id=str(n), evidence=Evidence(turns=turns)) for n in range(9)]
    work = Work(id="w", project="/p", goal="goal", files=tuple(f"src/{n}.py" for n in range(40)))
    digest = summary_digest(work, given)
    assert 7000 < len(digest) <= MAX_DIGEST_CHARACTERS


def summary(given: list[Contribution], **fields: object) -> Summary:
    known: dict[str, object] = {"goal": "G", "status": "blocked", "now": "N", "next": ("Mend lexer.py",)}
    return Summary(**{**known, "basis": basis_of(given), **fields})  # type: ignore[arg-type]


def test_a_summary_ranks_before_rules_and_its_fields_say_so() -> None:
    _, work, given = played()
    shown = with_summary(work, summary(given), given)
    assert (shown.goal, shown.status, shown.now) == ("G", "blocked", "N")
    assert [step.source for step in shown.steps][:2] == ["model", "reply"]
    assert {name: origin_of(shown, name) for name in ("goal", "now", "hypothesis")} == {
        "goal": "model",
        "now": "model",
        "hypothesis": "rules",
    }


def test_a_step_that_both_name_is_shown_once() -> None:
    _, work, given = played()
    shown = with_summary(work, summary(given, next=("Add the VAT column to exporter.py",)), given)
    assert [step.text for step in shown.steps].count("Add the VAT column to exporter.py") == 1


@pytest.mark.parametrize(
    "changed",
    [{"requests": 2}, {"deeds": Deeds(edited_at=9.0)}, {"deeds": Deeds(pushed_at=9.0)}],
    ids=["asked", "edited", "pushed"],
)
def test_once_something_was_done_only_the_goal_is_left_of_a_summary(changed: dict[str, object]) -> None:
    _, work, given = played()
    made = summary(given)
    evidence = msgspec.structs.replace(given[0].evidence, **changed)
    later = [msgspec.structs.replace(given[0], evidence=evidence)]
    shown = with_summary(work, made, later)
    assert shown.goal == "G"
    assert (shown.now, shown.status, shown.steps) == (work.now, work.status, work.steps)


def test_a_structured_block_ranks_before_a_summary() -> None:
    _, work, given = played()
    step = Step("s", "Publish the exporter", "block", 1.0)
    blocked = msgspec.structs.replace(work, outcome="partial", status="in_progress", steps=(step,))
    shown = with_summary(blocked, summary(given), given)
    assert shown.status == "in_progress"
    assert [one.text for one in shown.steps] == ["Publish the exporter", "Mend lexer.py"]
    assert origin_of(shown, "status") == "block"


def test_a_persons_words_rank_before_a_summary() -> None:
    story, work, given = played()
    story.works.summaries = {work.id: summary(given)}
    story.works.words = {work.id: UserWords({"goal": "Mine"}, {"goal": 1e12})}
    shown = story.current()
    assert (shown.goal, shown.now) == ("Mine", "N")
    assert (origin_of(shown, "goal"), origin_of(shown, "now")) == ("person", "model")
    assert story.works.by_rules(work.id).now == work.now
