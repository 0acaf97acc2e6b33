"""Sentences worth keeping, and how the heaviest are chosen."""

import pytest

from flowd.extractors.fields.findings import (
    KEPT,
    LENGTH,
    MAX_FINDINGS,
    Finding,
    finding_text,
    keep,
    passages,
    weigh,
    worth,
)
from flowd.extractors.fields.insights import select
from tests.support.transcript import Transcript


@pytest.mark.parametrize(
    "text",
    [
        "The issue is that the cart is summed before vouchers are applied.",
        "Root cause: `sum_cart` silently drops items without a price.",
        "The test failures are pre-existing and unrelated to this change.",
        "Gotcha: the till only accepts whole cents by default.",
    ],
)
def test_causes_and_gotchas_are_learnings(text: str) -> None:
    """They weigh enough to be kept in any session."""
    category, weight = weigh(text)
    assert category == "learning"
    assert weight > 4


@pytest.mark.parametrize(
    "text",
    [
        "The simplest approach is to keep the old till and skip the import for now.",
        "Renamed `sum` to `total` and moved it into the cart, per your decision.",
    ],
)
def test_choices_are_decisions(text: str) -> None:
    """What was chosen over something else."""
    assert weigh(text)[0] == "decision"


@pytest.mark.parametrize(
    "reply",
    [
        "Let me look at how the cart sums its items because the total is wrong.",
        "Perfect! All tests pass now.",
        "Would you like me to also fix the till because it is broken?",
        "Now update the cart so that it only sums once:",
        "Since it is exported... no, it is not exported, wait, let me re-read the only caller.",
    ],
)
def test_announcements_and_thinking_aloud_are_no_findings(reply: str) -> None:
    """They say nothing that lasts."""
    assert passages(reply, 2.5) == []


def test_a_finding_is_told_without_the_announcement_beside_it() -> None:
    """Only the sentences that last, plain."""
    reply = "Found it! The `till` **silently** ignores vouchers because they have no price. Let me fix that."
    assert [finding_text(one.text, one.lead) for one in passages(reply, 2.5)] == [
        "The till silently ignores vouchers because they have no price."
    ]


def test_a_list_item_is_told_with_the_label_it_stands_under() -> None:
    """Unless the label only says that a list comes."""
    reply = "### Voucher import\n\n- Skipped expired ones because the old shop never deletes them"
    assert [finding_text(one.text, one.lead) for one in passages(reply, 2.5)] == [
        "Voucher import: Skipped expired ones because the old shop never deletes them"
    ]
    assert [
        finding_text(one.text, one.lead)
        for one in passages(reply.replace("Voucher import", "Summary of changes"), 2.5)
    ] == ["Skipped expired ones because the old shop never deletes them"]


def test_a_long_paragraph_gives_findings_of_whole_sentences() -> None:
    """None longer than an insight may be."""
    reply = "The till fails because the drawer is only opened once. " * 12
    found = [finding_text(one.text, one.lead) for one in passages(reply, 2.5)]
    assert len(found) > 1
    assert all(len(text) <= LENGTH and text.endswith(".") for text in found)


def test_the_heaviest_and_newest_stay() -> None:
    """The pool is bounded: it does not grow with the session."""
    pool: list[Finding] = []
    floors = [
        keep(pool, Finding(f"finding {number}", "learning", float(number % 10), number, number, "", 0))
        for number in range(500)
    ]
    assert len(pool) < MAX_FINDINGS
    assert len(pool) >= KEPT
    assert max(filter(None, floors)) <= max(worth(one) for one in pool)
    assert all(one.weight >= 7 for one in sorted(pool, key=worth)[-KEPT:])


def test_no_insight_says_what_another_says() -> None:
    """The heavier of two alike is told."""
    one = Finding("the till ignores vouchers without a price", "learning", 5, 1, 1, "a")
    other = Finding("the till ignores vouchers without any price", "learning", 4, 2, 2, "b")
    assert select([other, one], 12) == [one]


def test_neighbours_in_a_list_are_told_together() -> None:
    """Two items of one list that fit into one insight share it."""
    session = (
        Transcript()
        .person("Tidy up the till please, all of it")
        .assistant(
            "The till is tidy:\n\n"
            "- Removed the drawer check because no drawer is ever missing\n"
            "- Kept the old receipt layout since the printer requires it\n"
        )
    )
    assert (
        "The till is tidy: Removed the drawer check because no drawer is ever missing. "
        "Kept the old receipt layout since the printer requires it"
    ) in session.insights


def test_what_belongs_to_the_current_task_is_told_first() -> None:
    """Of two findings of like weight, the one found since the task began."""
    early = Finding("the till ignores vouchers", "learning", 5.0, 10, 1, "a")
    late = Finding("receipts print twice", "learning", 4.5, 20, 2, "b")
    assert select([early, late], 12) == [early, late]
    assert select([early, late], 12, begun=15) == [late, early]


def test_an_insight_names_its_record_and_line() -> None:
    """So that whoever doubts it can look."""
    session = Transcript().person("Why are totals wrong in the cart, please look")
    session.assistant("The issue is that vouchers are silently ignored.")
    found = next(one for one in session.state.insights if one.category == "learning")
    assert (found.record, found.line) == ("record-2", 2)


def test_a_session_with_little_to_tell_tells_lighter_things() -> None:
    """Plain statements about the code, without the applause before them, behind all else."""
    session = Transcript().person("Find out where the till rounds its totals")
    session.assistant("Good - `Till.round` rounds each of the totals half up in `till.py`. Let me look on.")
    assert session.insights[-1] == "Till.round rounds each of the totals half up in till.py."


def test_light_things_are_not_told_once_there_is_enough() -> None:
    """They would be noise."""
    session = Transcript().person("Find out where the till rounds its totals")
    for number in range(14):
        place = f"room{number} shelf{number} crate{number} box{number}"
        session.assistant(f"The issue is that {place} silently ignores vouchers because of a bad default.")
    session.assistant("`Till.round` rounds half up in `till.py`.")
    assert not any("Till.round" in one for one in session.insights)


def test_a_subagents_learnings_count_less_than_the_sessions_own() -> None:
    """But they count."""
    session = Transcript().person("Why are totals wrong in the cart, please look")
    session.is_sidechain = True
    session.assistant("The issue is that vouchers are silently ignored by the till because of a bad default.")
    assert session.state.learnings == (
        "The issue is that vouchers are silently ignored by the till because of a bad default.",
    )


def test_a_check_that_fails_is_no_learning_once_it_passes() -> None:
    red = "The lint check fails because the import of csv in exporter.py is never used."
    session = Transcript().person("Write the exporter").edit("exporter.py").assistant(red, "tool_use")
    assert list(session.state.learnings) == [red]
    session.run("pytest -q", "3 passed").assistant("The exporter writes all rows.")
    assert list(session.state.learnings) == []
    assert [one.insight for one in session.state.insights] == [red]
