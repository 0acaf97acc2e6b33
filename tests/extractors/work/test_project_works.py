"""A trivial session never breaks the thread: stories of several sessions in one project."""

import pytest

from flowd.model.work import StepEdit, UserWords
from tests.support.story import DayOfWork, Story, exporter
from tests.support.transcript import Transcript


def visitor(question: str = "Hi, what were we doing?", day: int = 2) -> Transcript:
    return DayOfWork(f"visitor-{day}", day).person(question).assistant("You were writing an exporter.")


def test_a_question_after_real_work_changes_nothing() -> None:
    story = Story()
    story.play(exporter())
    before = story.current()
    assert story.play(visitor()) == "visitor"
    assert story.play(visitor("What is 2+2?", day=3)) == "visitor"
    assert story.works.works == [before]


def test_continue_with_an_edit_inherits_goal_steps_and_files() -> None:
    story = Story()
    story.play(exporter())
    going_on = DayOfWork("tuesday", 2).person("Please continue where we left off").edit("src/vat.py")
    going_on.assistant("Added the VAT column to exporter.py.")
    assert story.play(going_on) == "joins"
    work = story.current()
    assert work.goal == "Write a CSV exporter for the orders in exporter.py"
    assert story.steps() == ["Document the exporter in docs/export.md"]
    assert set(work.files) == {"src/vat.py", "src/exporter.py"}
    assert work.sessions == ("monday", "tuesday")


def test_a_session_may_visit_for_twenty_turns_and_then_begin_work() -> None:
    story = Story()
    story.play(exporter())
    talk = DayOfWork("friday", 5)
    for number in range(20):
        talk.person(f"How does the billing service work in case {number}?").assistant("It sends invoices.")
        assert story.play(talk) == "visitor"
    talk.person("Then rewrite the invoice mailer to use the queue").edit("billing/mailer.py")
    talk.run("git commit -m x", "[main abc1234] x").assistant("The mailer uses the queue now.")
    assert story.play(talk) == "begins"
    assert story.current().files == ("billing/mailer.py",)
    assert len(story.works.works) == 2


def test_a_small_request_of_its_own_does_not_take_over() -> None:
    story = Story()
    story.play(exporter())
    once = (
        DayOfWork("licence", 2)
        .person("Can you add a standard MIT license?")
        .call("Write", file_path="LICENSE")
    )
    once.result().assistant("Created LICENSE.")
    assert story.play(once) == "visitor"
    assert "exporter" in story.current().goal


def test_work_on_another_branch_is_found_again_when_the_branch_is() -> None:
    story = Story()
    first = (
        DayOfWork("parser", 1, "fix/parser").person("Fix the date parser for leap years").edit("src/dates.py")
    )
    story.play(first.edit("src/leap.py").assistant("Leap years parse."))
    second = (
        DayOfWork("login", 2, "feature/login")
        .person("Build the login form with a captcha")
        .edit("web/login.ts")
    )
    assert story.play(second.edit("web/captcha.ts").assistant("The form is there.")) == "begins"
    assert "parser" in story.current("fix/parser").goal
    assert "login" in story.current("feature/login").goal
    assert "login" in story.current("new/branch").goal


def test_the_same_files_join_whatever_the_branch() -> None:
    story = Story()
    story.play(exporter())
    later = DayOfWork("later", 9, "csv-quotes").person("Quote the fields with commas").edit("src/exporter.py")
    assert story.play(later.assistant("Fields are quoted.")) == "joins"


def test_a_first_session_without_deeds_is_shown_until_there_is_work() -> None:
    story = Story()
    story.play(visitor("How do I run the tests here?", day=1))
    assert story.current().is_tentative
    story.play(exporter(day=2))
    assert [work.is_tentative for work in story.works.works] == [False]


def test_a_headless_session_is_a_visitor_even_when_it_edits() -> None:
    story = Story()
    script = DayOfWork("script", 1)
    script.add("user", message={"role": "user", "content": "Fix the build in ci.yml"}, entrypoint="sdk-cli")
    script.call("Edit", file_path="/home/ada/shop/ci.yml").result().assistant("Fixed.")
    state = script.state
    if state.headless:
        story.works.take(state)
        assert story.works.works == []


def test_taking_the_same_states_again_changes_nothing() -> None:
    story = Story()
    sessions = [exporter(), visitor(), exporter("tuesday", 3)]
    for session in sessions:
        story.play(session)
    before = story.works.works
    for session in sessions:
        story.play(session)
    assert story.works.works == before


def test_a_step_that_a_person_closed_stays_closed() -> None:
    story = Story()
    story.play(exporter())
    work = story.current()
    vat = next(step for step in work.steps if "VAT" in step.text)
    story.works.edits = [
        StepEdit(work.id, vat.id, "dropped", vat.text),
        StepEdit(work.id, "x", "added", "Ask Eva"),
    ]
    assert story.steps() == ["Ask Eva", "Document the exporter in docs/export.md"]
    story.play(exporter("tuesday", 2))
    assert story.steps() == ["Ask Eva", "Document the exporter in docs/export.md"]


def test_saved_words_stand_until_the_next_request_has_been_worked_on() -> None:
    story = Story()
    monday = exporter()
    story.play(monday)
    work = story.current()
    said = {"goal": "Ship the exporter", "now": "Stopped before the VAT column"}
    story.works.words = {work.id: UserWords(said, dict.fromkeys(said, work.touched_at + 1))}
    monday.assistant("Goodbye.")
    story.play(monday)
    assert (story.current().goal, story.current().now) == tuple(said.values())
    tuesday = DayOfWork("tuesday", 2).person("Now add the VAT column").edit("src/exporter.py")
    story.play(tuesday.assistant("The VAT column is there."))
    assert story.current().goal == "Ship the exporter"
    assert story.current().now == "The VAT column is there."


def hub(name: str, day: int, *files: str, branch: str = "main") -> DayOfWork:
    """Return a session that edits a file which much of the code shares, and then *files*."""
    asked = {"orders": "Let orders have discounts per line", "mail": "Send the mails through a queue"}[name]
    session = DayOfWork(name, day, branch)
    session.person(asked).edit("src/core.py")
    for file in files:
        session.edit(file)
    session.assistant("It works now, and its tests pass.")
    return session


def test_a_session_that_shares_a_file_at_first_leaves_the_work_when_it_turns_to_others() -> None:
    story = Story()
    story.play(hub("orders", 1, "src/orders.py", "src/lines.py"))
    before = story.works.works
    assert story.play(hub("mail", 4)) == "joins"
    assert story.play(hub("mail", 4, "src/mail.py", "src/smtp.py", "src/queue.py")) == "begins"
    assert [work for work in story.works.works if "orders" in work.goal] == before
    assert "mails" in story.current().goal


def test_a_work_that_turns_out_to_be_a_one_off_leaves_nothing() -> None:
    story = Story()
    story.play(exporter())
    before = story.works.works
    session = DayOfWork("licence", 2).person("Add a standard MIT license").call("Write", file_path="LICENSE")
    assert story.play(session) == "begins"
    assert story.play(session.result().assistant("Created LICENSE.")) == "visitor"
    assert story.works.works == before


def test_two_feature_branches_are_two_works_though_they_share_a_file() -> None:
    story = Story()
    story.play(hub("orders", 1, "src/orders.py", branch="feature/orders"))
    assert story.play(hub("mail", 2, "src/mail.py", branch="feature/mail")) == "begins"


@pytest.mark.parametrize("every", [1, 2, 3, 5])
def test_the_roles_do_not_depend_on_how_often_they_were_asked(every: int) -> None:
    sessions = [
        exporter(),
        hub("orders", 2, "src/orders.py", "src/lines.py"),
        hub("mail", 3, "src/mail.py", "src/smtp.py", "src/queue.py"),
        visitor(day=4),
        DayOfWork("later", 9)
        .person("Quote the fields with commas")
        .edit("src/exporter.py")
        .assistant("Quoted."),
    ]
    whole, sliced = Story(), Story()
    for session in sessions:
        whole.play(session)
        lines = session.lines
        for end in range(every, len(lines) + every, every):
            session.lines = lines[:end]
            sliced.play(session)
    assert sliced.works.works == whole.works.works


def test_a_session_that_ends_on_a_new_branch_belongs_to_the_work_of_the_one_it_was_on() -> None:
    story = Story()
    story.play(hub("orders", 1, "src/orders.py", branch="feature/orders"))
    session = DayOfWork("mail", 2, "feature/orders")
    session.person("Send the mails through a queue").edit("src/mail.py").edit("src/smtp.py")
    session.branch = "feature/mail"
    assert story.play(session.edit("src/queue.py").assistant("They wait in a queue now.")) == "joins"
    assert story.current("feature/mail").id == story.current("feature/orders").id


def test_a_plan_that_is_handed_over_later_is_the_goal_of_the_work_from_then_on() -> None:
    story = Story()
    story.play(exporter())
    session = DayOfWork("plan", 2)
    session.person("Implement the following plan:\n\n# Stream the export\n\n1. Write rows as they come")
    session.edit("src/exporter.py").assistant("Rows are written as they come.")
    assert story.play(session) == "joins"
    assert story.current().goal == "Stream the export"


def test_the_last_request_is_never_that_of_an_earlier_session() -> None:
    story = Story()
    story.play(exporter())
    session = DayOfWork("review", 2).edit("src/exporter.py").edit("src/vat.py")
    story.play(session.assistant("Both files are reviewed now."))
    assert story.current().request == ""
