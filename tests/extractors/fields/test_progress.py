"""What is being done now, and whether it is done."""

from tests.support.transcript import Transcript


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
