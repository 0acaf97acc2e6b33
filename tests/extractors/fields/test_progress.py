"""What is being done now, and whether it is done."""

import pytest

from flowd.extractors.fields.progress import asked
from tests.support.transcript import Transcript


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("ok, can you please add a total to the cart", "Add a total to the cart"),
        ("I'd like you to drop the old till", "Drop the old till"),
        ("Let's just keep the index", "Keep the index"),
        ("CartTotal is off by one", "CartTotal is off by one"),
        ("can you add a total to the cart?", "Add a total to the cart"),
        ("is the till still in use?", "Is the till still in use?"),
    ],
)
def test_courtesies_are_no_part_of_a_request(request_: str, expected: str) -> None:
    """What is left says what to do."""
    assert asked(request_) == expected


def test_a_single_request_is_the_goal() -> None:
    """Told without the courtesy around it."""
    assert (
        Transcript().person("Please add a total to the cart page").state.goal
        == "Add a total to the cart page"
    )


def test_a_short_answer_never_becomes_the_goal() -> None:
    """Consent goes on with what was asked before."""
    session = (
        Transcript().person("Add a total to the cart page").assistant("Shall I?").person("yes, go ahead")
    )
    assert session.state.goal == "Add a total to the cart page"


def test_a_later_request_is_told_with_the_first() -> None:
    """Both, the first as what it is part of."""
    session = Transcript().person("Add a total to the cart page").assistant("Done, it shows the sum.")
    session.person("Now format the total in the buyer's currency")
    assert session.state.goal == (
        "Add a total to the cart page — now: Format the total in the buyer's currency"
    )


def test_a_commit_closes_what_was_asked_before_it() -> None:
    """Long sessions move on: the first request after the commit is what the next ones are part of."""
    session = Transcript().person("Add a total to the cart page").edit("cart.py").commit("Add a total")
    session.person("Write tests for the voucher import").assistant("Written.").person(
        "Test an expired voucher too"
    )
    assert session.state.goal == "Write tests for the voucher import — now: Test an expired voucher too"


def test_a_correction_after_an_interruption_is_no_new_goal() -> None:
    """It says how, not what."""
    session = Transcript().person("Import vouchers from the old shop").assistant("I write a parser.")
    session.person("[Request interrupted by user]").person("Remove that file, we have a parser already")
    assert session.state.goal == "Import vouchers from the old shop"
    assert "The user asked: Remove that file, we have a parser already" in session.insights


def test_the_clients_recap_names_the_topic() -> None:
    """Without its subject, and without what it says about the next step."""
    session = Transcript().person("Look at the voucher import, it is slow somewhere")
    session.add(
        "system", subtype="away_summary", content="We're making the voucher import faster. Next: measure."
    )
    assert session.state.goal == "Making the voucher import faster."


def test_a_plan_to_implement_gives_its_title() -> None:
    """The plan is long, its title is the goal."""
    session = Transcript().person(
        "Implement the following plan:\n\n# Plan: Sort carts by price\n\n## Context\n\nText"
    )
    assert session.state.goal == "Sort carts by price"


def test_a_title_stands_for_the_topic_when_requests_follow() -> None:
    """The title is the client's own, the request the person's."""
    session = Transcript().person("It says 500 when I open the cart, why is that so")
    session.add("ai-title", aiTitle="Fix the cart's error page")
    assert (
        session.state.goal
        == "Fix the cart's error page — now: It says 500 when I open the cart, why is that so"
    )


def test_a_prompt_that_only_names_a_file_is_told_as_the_assistant_understood_it() -> None:
    """Its first sentence says what the file asks for."""
    session = Transcript().person("@task.md think hard please")
    session.assistant("I'll help you with moving carts to the new schema. Reading the file first.")
    assert session.state.goal == "Moving carts to the new schema."


def test_paths_in_the_goal_are_told_from_the_project() -> None:
    """And those of the home directory from there."""
    session = Transcript().person("Fix /home/ada/shop/src/cart.py as described in /home/ada/notes/cart.md")
    assert session.state.goal == "Fix src/cart.py as described in ~/notes/cart.md"


def test_a_session_begun_by_a_bare_command_has_the_goal_that_the_assistant_named() -> None:
    """Nobody wrote one."""
    session = Transcript().person("<command-name>/tidy</command-name><command-args></command-args>")
    session.assistant("I'll tidy the import list of the cart.")
    assert session.state.goal == "Tidy the import list of the cart."


def test_a_reply_that_ends_the_turn_completes_the_request() -> None:
    """Now is what it reports, without the cheering."""
    session = Transcript().person("Add a total to the cart page")
    session.assistant("All tests pass. The cart page shows the total below the items.", "end_turn")
    assert session.state.status == "completed"
    assert session.state.now == session.state.outcome == "The cart page shows the total below the items."


def test_a_turn_without_its_reply_is_in_progress() -> None:
    """Now is the step that was announced, and what it is for."""
    session = Transcript().person("Add a total to the cart page")
    session.assistant("The sum is missing. Let me look at the price model:", "tool_use").call(
        "Read", file_path="x"
    )
    assert session.state.status == "in_progress"
    assert session.state.now == "Look at the price model — for: Add a total to the cart page"
    assert session.state.outcome == ""


def test_a_question_at_the_end_blocks() -> None:
    """The session waits for an answer; report and question are told together."""
    session = (
        Transcript()
        .person("Add a total to the cart page")
        .assistant("The total is in. It rounds down.\n\nShould I round half up?")
    )
    assert session.state.status == "blocked"
    assert session.state.now == "The total is in. It rounds down. Should I round half up?"
    assert session.state.questions == ("Should I round half up?",)
    assert session.state.blockers == ("Waiting for an answer: Should I round half up?",)


def test_a_question_put_by_a_tool_blocks_until_it_is_answered() -> None:
    """The answer is a decision."""
    session = Transcript().person("Add a total to the cart page")
    session.call("AskUserQuestion", questions=[{"question": "Round half up?", "options": []}])
    assert session.state.status == "blocked"
    assert session.state.now == "Waiting for an answer: Round half up?"
    after = session.result("answered", answers={"Round half up?": "No, to even"}).state
    assert after.status == "in_progress"
    assert after.decisions == ("Round half up? The user answered: No, to even",)


def test_a_plan_waits_for_approval() -> None:
    """And says which."""
    session = Transcript().person("Make a plan for the totals of carts")
    session.call("ExitPlanMode", plan="# Totals in carts\n\nText")
    assert session.state.status == "blocked"
    assert "Totals in carts" in session.state.now
    session.result("approved")
    assert session.state.now == "Working on: Make a plan for the totals of carts"


def test_open_tasks_keep_a_session_from_being_completed() -> None:
    """Even when its last reply sounds like the end."""
    session = Transcript().person("Add a total to the cart page")
    session.call("TodoWrite", todos=[{"content": "Round the total", "status": "pending"}]).result()
    session.assistant("The total is shown.")
    assert session.state.status == "in_progress"


def test_the_running_task_is_what_is_done_now() -> None:
    """It comes before what the reply announced."""
    session = Transcript().person("Add a total to the cart page")
    session.call("TaskCreate", subject="Sum the prices").result().call(
        "TaskCreate", subject="Round the sum"
    ).result()
    session.call("TaskUpdate", taskId="1", status="completed").result()
    session.call("TaskUpdate", taskId="2", status="in_progress").result()
    assert session.state.now == "Round the sum — for: Add a total to the cart page"


def test_a_file_being_edited_is_named_from_the_project() -> None:
    """Before the text is cut to its length."""
    session = (
        Transcript()
        .person("Add a total to the cart page")
        .call("Edit", file_path="/home/ada/shop/src/cart.py")
    )
    assert session.state.now == "Editing src/cart.py — for: Add a total to the cart page"


def test_an_interrupted_turn_is_in_progress() -> None:
    """And now says so."""
    session = Transcript().person("Add a total to the cart page").person("[Request interrupted by user]")
    assert session.state.status == "in_progress"
    assert session.state.now == "Interrupted while working on: Add a total to the cart page"


def test_a_sidechain_changes_neither_goal_nor_status() -> None:
    """A subagent's words are not the session's."""
    session = Transcript().person("Add a total to the cart page").assistant("It is in.")
    before = session.state
    session.is_sidechain = True
    session.person("Search the whole repository for totals").assistant("Shall I go on?")
    after = session.state
    assert (after.goal, after.now, after.status) == (before.goal, before.now, before.status)


def test_what_the_client_says_for_the_model_is_not_its_reply() -> None:
    """Errors of the API are no report."""
    session = Transcript().person("Add a total to the cart page").assistant("It is in.")
    session.assistant("API Error: overloaded", isApiErrorMessage=True)
    assert session.state.now == "It is in."


def test_a_reply_that_only_cheers_is_told_as_it_is() -> None:
    """Now is never empty once something was said."""
    session = Transcript().person("Add a total to the cart page").assistant("All done!")
    assert session.state.now == "All done!"


BLOCK = """## Handoff

```yaml
outcome: partial
files_modified:
  - path: src/cart.py
    description: The total is split
blockers:
  - blocker: No fixture for vouchers
suggested_next_steps:
  - step: Price the vouchers
```
"""


@pytest.mark.parametrize("block", [BLOCK, BLOCK.replace("```yaml\n", "").replace("```\n", "")])
def test_a_block_in_a_reply_is_not_what_the_reply_says(block: str) -> None:
    """The block has fields of its own."""
    session = Transcript().person("Split the total of the cart page").edit("src/cart.py")
    session.assistant(f"The total is split by rate.\n\n{block}\nBye.", "end_turn")
    assert session.state.now.startswith("The total is split by rate.")
    assert "outcome" not in session.state.now


def test_a_reply_that_is_nothing_but_a_block_says_what_the_block_is_about() -> None:
    session = Transcript().person("Split the total of the cart page").edit("src/cart.py")
    session.assistant(f"Here is my handoff.\n\n{BLOCK}", "end_turn")
    assert "```" not in session.state.now
    assert "outcome" not in session.state.now
    assert session.state.now not in ("", "Here is my handoff.")


@pytest.mark.parametrize(
    "reply",
    [
        "Billing half done.",
        "The export is partly written.",
        "The first of three reports is done.",
        "The parser still fails on empty files.",
        "Two tests are still failing.",
        "I could not reach the server.",
    ],
)
def test_a_reply_that_says_it_is_not_done_does_not_complete_the_request(reply: str) -> None:
    session = Transcript().person("Write the billing export").edit("src/billing.py")
    session.assistant(reply, "end_turn")
    assert session.state.status == "in_progress"
    assert session.state.outcome == ""


def test_an_answer_to_a_complaint_is_not_yet_a_success() -> None:
    """The person has said that it does not work; only a check or the person says that it does."""
    session = Transcript().person("Write the billing export").edit("src/billing.py")
    session.assistant("The export is written.", "end_turn").person("still didnt work")
    session.edit("src/billing.py").assistant("I changed the separator.", "end_turn")
    assert (session.state.status, session.state.outcome) == ("in_progress", "")
    session.person("try again").edit("src/billing.py").run("pytest -q", "3 passed")
    session.assistant("The separator is right now.", "end_turn")
    assert session.state.status == "completed"


def test_the_steps_that_a_closing_reply_names_are_not_where_it_stands() -> None:
    """They have a list of their own."""
    reply = "The exporter writes the orders.\n\nNext steps:\n1. Add the VAT column\n2. Write tests"
    assert Transcript().person("Build the exporter").assistant(reply, "end_turn").state.now == (
        "The exporter writes the orders."
    )
