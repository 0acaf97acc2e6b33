"""The hypothesis and the next steps."""

from flowd.extractors.conversation.replies import listed
from flowd.extractors.fields.overview import believed
from tests.support.transcript import Transcript

ASKED = "Add a total to the cart page"


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


def test_steps_under_a_heading_are_listed() -> None:
    """Until another heading."""
    reply = "Done.\n\n## Next steps\n\n1. Push the branch\n2. Tell the **shop**\n\n## Notes\n\nNothing."
    assert listed(reply) == ["Push the branch", "Tell the shop"]


def test_sentences_about_what_is_next_are_listed() -> None:
    """Without the words that say so."""
    assert listed("It works. Next step: tag the release. Next, push it.") == ["tag the release.", "push it."]


def test_open_tasks_come_first() -> None:
    """The running one before the pending ones, done ones not at all."""
    session = Transcript().person(ASKED)
    todos = [
        {"content": "Sum the prices", "status": "completed"},
        {"content": "Round the sum", "status": "pending"},
        {"content": "Show the sum", "status": "in_progress"},
    ]
    session.call("TodoWrite", todos=todos).result()
    assert session.state.next[:2] == ("Show the sum", "Round the sum")


def test_work_under_way_is_to_be_finished() -> None:
    """The step at hand, then the request."""
    session = (
        Transcript().person(ASKED).assistant("Let me sum the prices:", "tool_use").call("Read", file_path="x")
    )
    assert session.state.next == ("Sum the prices", "Finish: Add a total to the cart page")


def test_edits_want_a_check_and_a_commit() -> None:
    """The check that was run last, by its name."""
    session = Transcript().person(ASKED).run("make test").edit("src/cart.py").assistant("The total is shown.")
    assert session.state.next == (
        "Run the tests again (make test)",
        "Commit the changes: the latest edits are not committed yet",
    )


def test_a_failed_check_wants_a_fix() -> None:
    """Also when the command itself ends well."""
    session = Transcript().person(ASKED).edit("src/cart.py").run("go test ./...", "--- FAIL: TestTotal")
    assert "Fix what fails in go test and run it again" in session.state.next


def test_a_commit_wants_to_be_pushed() -> None:
    """Until it is."""
    session = Transcript().person(ASKED).edit("src/cart.py").run("make test").commit("Add a total")
    session.assistant("Committed.")
    assert session.state.next == ("Push carts and open a pull request: Add a total is only local",)
    session.run("git push -u origin carts").assistant("Pushed.")
    assert not session.state.next


def test_an_offer_not_answered_is_a_step() -> None:
    """What was offered, marked as such."""
    session = Transcript().person(ASKED).assistant("The total is shown. Want me to round it as well?")
    assert session.state.next == ("Round it as well (offered, not answered yet)",)


def test_an_open_question_is_to_be_answered() -> None:
    """When it offers nothing."""
    session = Transcript().person(ASKED).assistant("Both work. Which of the two do you prefer?")
    assert session.state.next == ("Answer: Which of the two do you prefer?",)


def test_a_recap_says_what_is_next() -> None:
    """Until the person asks for something else."""
    session = Transcript().person(ASKED).assistant("The total is shown.")
    session.add("system", subtype="away_summary", content="Added a total. Next: round it to cents.")
    assert "Round it to cents." in session.state.next
    session.person("Sort the carts by their price now").assistant("Sorted.")
    assert "Round it to cents." not in session.state.next


def test_a_promise_is_kept_in_mind_while_other_things_are_done() -> None:
    """It was said, and not done yet."""
    session = Transcript().person(ASKED).assistant("Shown. Next step: round the total to cents.")
    session.person("Sort the carts by their price first").call("Read", file_path="x")
    assert "Round the total to cents." in session.state.next


def test_a_plans_checks_are_due_when_nothing_was_checked() -> None:
    """As the plan names them."""
    plan = (
        "Implement the following plan:\n\n# Totals\n\n## Verification\n\n- Open the cart page with a voucher"
    )
    session = Transcript().person(plan).edit("src/cart.py").assistant("The total is shown.")
    assert "Open the cart page with a voucher" in session.state.next
    assert "Open the cart page with a voucher" not in session.run("make test").state.next


def test_an_offer_is_kept_in_mind_when_something_else_comes_first() -> None:
    """Unless it was declined."""
    session = Transcript().person(ASKED).assistant("The total is shown. Want me to round it as well?")
    before = session.data
    session.person("Can you sort the items before that").call("Read", file_path="x")
    assert "Round it as well (offered, not taken up yet)" in session.state.next
    declined = Transcript()
    declined.lines = [before]
    declined.person("no, sort the items instead of that").call("Read", file_path="x")
    assert not any("Round it" in step for step in declined.state.next)
