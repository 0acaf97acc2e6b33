"""What the person decided: answers, choices, refusals, corrections."""

import pytest

from flowd.extractors.conversation.choices import chosen, is_consent, question_in
from tests.support.transcript import Transcript

OFFER = """Two ways to round:

**A. Half up** — what shops do.
**B. To even** — what banks do.

Which one?"""
REFUSAL = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a "
    "file edit, the new_string was NOT written to the file). "
)


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("b", "To even — what banks do."),
        ("A.", "Half up — what shops do."),
        ("option B", "To even — what banks do."),
        ("half up", "Half up — what shops do."),
        ("c", ""),
        ("yes", ""),
        ("neither of them really convinces me", ""),
    ],
)
def test_a_short_answer_names_one_of_the_options(answer: str, option: str) -> None:
    """By its letter or by its words."""
    assert chosen(answer, OFFER) == option


def test_a_numbered_option_is_found_by_its_number() -> None:
    """Lists of steps are options when somebody answers with a number."""
    assert (
        chosen("2", "1. Merge it\n2. **Open a pull request** first\n\nWhich?") == "Open a pull request first"
    )


def test_a_choice_is_a_decision_told_with_its_question() -> None:
    """Understandable without the transcript."""
    session = Transcript().person("Round the total in the cart page").assistant(OFFER).person("b")
    assert session.state.decisions == ("Which one? The user chose: To even — what banks do.",)


@pytest.mark.parametrize("answer", ["yes", "ok", "Sounds good, thanks", "do it", "continue"])
def test_consent_asks_for_nothing_new(answer: str) -> None:
    """It is recognised in its many forms."""
    assert is_consent(answer)


@pytest.mark.parametrize("answer", ["yes but round half up and show the tax as well", "ship it", "no"])
def test_more_than_consent_is_not_consent(answer: str) -> None:
    """Conditions and orders are not."""
    assert not is_consent(answer)


def test_the_question_a_reply_ends_with_is_found() -> None:
    """Also behind a few closing words."""
    assert question_in("It is in.\n\nShall I **commit**? (2 files)") == "Shall I commit?"
    assert question_in("Is it slow? Yes.\n\nNow it is fast.\n\nBy far.\n\nReally.\n\nDone.") == ""


def test_a_refusal_with_a_reason_is_a_decision() -> None:
    """And what was refused is named."""
    session = (
        Transcript()
        .person("Round the total in the cart page")
        .call("Bash", command="x", description="Format all")
    )
    session.result(
        REFUSAL + "To tell you how to proceed, the user said:\nno, format only the cart\n\n"
        "Note: The user's next message may contain a correction",
        is_error=True,
    )
    assert (
        "The user refused a step (Format all) and said: no, format only the cart" in session.state.decisions
    )
    assert session.state.now == "Working on: Format only the cart"


def test_a_refusal_without_a_reason_is_no_decision() -> None:
    """Esc on a running command leaves the same record as a refusal: it decides nothing."""
    session = Transcript().person("Round the total in the cart page")
    session.call("Bash", command="cat ~/.netrc", description="Read the passwords file").result(
        REFUSAL, is_error=True
    )
    assert session.state.decisions == ()


def test_a_question_of_the_person_decides_nothing() -> None:
    """Only what they order is among the insights."""
    session = Transcript().person("Round the total in the cart page").assistant("Rounded.")
    session.person("how does the till round its totals?").assistant("It does not.")
    session.person("Don't round in the till, only in the cart")
    assert session.insights[0] == "The user asked: Don't round in the till, only in the cart"
    assert "The user asked: how does the till round its totals?" not in session.insights


def test_an_approved_plan_is_a_decision() -> None:
    """By its title."""
    session = (
        Transcript()
        .person("Plan the totals of the carts")
        .call("ExitPlanMode", plan="# Totals\n\nText")
        .result()
    )
    assert session.state.decisions == ("The user approved the plan: Totals",)


def test_a_question_asked_back_decides_nothing() -> None:
    """The person wants to know more first."""
    session = Transcript().person("Round the total in the cart page")
    session.call("AskUserQuestion", questions=[{"question": "Round half up?"}])
    session.result("answered", answers={"Round half up?": "what do shops do?"})
    assert session.state.decisions == ()
