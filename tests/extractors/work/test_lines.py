"""The lines of a digest: whole statements, each under its heading, without intentions and small talk."""

import pytest

from flowd.extractors.work.lines import as_report, decisions_of, learnings_of, lines_of
from flowd.model.session import CommitMade, Evidence, TurnSummary
from flowd.model.work import Contribution


def lines(**fields: object) -> list[tuple[str, str]]:
    return list(lines_of(Contribution(session_id="s", **fields)))  # type: ignore[arg-type]  # fields of the struct


def turns(*made: tuple[str, str]) -> Evidence:
    return Evidence(turns=tuple(TurnSummary(asked, came) for asked, came in made))


@pytest.mark.parametrize(
    "text",
    [
        "Let me look at the parser before I change it.",
        "Now I need to update the reference in the installer.",
        "Two issues to fix: a missing return and an unused import.",
        "But I should be careful here, the lint configuration is strict.",
        "Now fix the rounding issue at the second call site.",
        "Sounds like you're testing the exporter.",
        "However, it also has an issue with the order of the rows.",
        "The diagnostics show an unused import that will be used later.",
    ],
)
def test_what_is_intended_or_needs_what_was_said_before_is_no_line(text: str) -> None:
    assert lines(learnings=(text,), decisions=(text,)) == []


def test_the_statements_beside_an_intention_are_kept() -> None:
    assert as_report("The cache is never cleared on logout. Let me fix that.") == (
        "The cache is never cleared on logout."
    )


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("Rows are written with csv.writer instead of a template.", "decided"),
        ("Which format? The user chose: one file for each month", "decided"),
        ("Added a null-byte check to the reader of worktree files.", "done"),
        ("src/till.py — Added a rate for vouchers, and its tests.", "done"),
        ("src/cart.py: Moved the tax rules into a table of their own.", "done"),
        ("Renamed the exports to avoid stutter: String, Bytes and Lines.", "done"),
        ("The API answers 200 with an empty body when the token has expired.", "learned"),
    ],
)
@pytest.mark.parametrize("field", ["decisions", "learnings"])
def test_a_finding_stands_under_the_heading_that_its_words_ask_for(
    text: str, heading: str, field: str
) -> None:
    assert lines(**{field: (text,)}) == [(heading, text)]


def test_a_request_is_no_decision_but_a_rule_is_told_in_the_persons_words() -> None:
    rule = "The user asked: Don't push yet, and always use pnpm"
    given = Contribution(session_id="s", decisions=("The user asked: Build the exporter", rule))
    assert lines_of(given) == [("asked", "Don't push yet, and always use pnpm")]
    assert decisions_of(given) == learnings_of(given) == ()


def test_small_talk_leaves_only_what_came_of_it() -> None:
    told = lines(evidence=turns(("Thanks!", "Happy to help."), ("Great", "The rates are cached for a day.")))
    assert told == [("done", "The rates are cached for a day.")]


def test_a_turn_says_what_was_asked_and_what_came_of_it() -> None:
    told = lines(
        evidence=turns(("Cache the rates in rates.py.", "Rates are kept for a day. Let me test it."))
    )
    assert told == [("done", "Cache the rates in rates.py: Rates are kept for a day.")]


def test_a_commit_without_a_known_hash_has_no_gap() -> None:
    told = lines(
        evidence=Evidence(commits=(CommitMade("", "Cache rates"), CommitMade("abc1234", "Drop it.")))
    )
    assert told == [("done", "Committed: Cache rates."), ("done", "Committed abc1234: Drop it.")]


def test_a_statement_with_a_cut_end_is_left_out() -> None:
    assert lines(decisions=("The user refused a step (run) and said: because the…",)) == []
    assert lines(learnings=("The exporter writes all rows at once and then the…",)) == []
