"""What the assistant believes to be the cause."""

from flowd.extractors.fields.hypothesis import believed
from tests.support.transcript import Transcript


def test_the_last_belief_of_a_reply_is_the_hypothesis() -> None:
    """A question is none."""
    reply = "The cart is slow because it sums twice. Could it be the cache?\n\nLet me measure."
    assert believed(reply) == "The cart is slow because it sums twice."


def test_a_hypothesis_lives_as_long_as_the_work_on_it() -> None:
    """Once the request is done there is none."""
    session = Transcript().person("The cart total is wrong for vouchers")
    session.assistant("That's likely the rounding of vouchers. Let me look:", "tool_use").call(
        "Read", file_path="x"
    )
    assert session.state.hypothesis == "That's likely the rounding of vouchers."
    session.result().assistant("Fixed the rounding of vouchers.")
    assert session.state.hypothesis == ""


def test_a_finding_about_the_reported_fault_stands_in() -> None:
    """When the last reply only says what it does next."""
    session = Transcript().person("The cart total is wrong for vouchers")
    session.assistant("The voucher code silently ignores the currency, so sums are mixed up.", "tool_use")
    session.call("Read", file_path="x").result().assistant("Let me fix it:", "tool_use").call(
        "Read", file_path="y"
    )
    assert session.state.hypothesis == "The voucher code silently ignores the currency, so sums are mixed up."


def test_work_without_a_fault_has_no_hypothesis() -> None:
    """New things need none."""
    session = Transcript().person("Add a total to the cart page")
    session.assistant("The page only shows items, a total is missing so far.", "tool_use").call(
        "Read", file_path="x"
    )
    assert session.state.hypothesis == ""
