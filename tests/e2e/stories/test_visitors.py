"""A session without work of its own never replaces the work, whatever it asks."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write

GOAL = "Build a CSV exporter for the orders in exporter.py"


def test_a_greeting_and_a_sum_leave_the_work_as_it_is(story: Story) -> None:
    story.day(6)
    first = story.open()
    first.ask(
        GOAL,
        write(story.project / "exporter.py"),
        Say("exporter.py writes the orders as CSV.\n\nWhat is left:\n1. Add the VAT column\n2. Write tests"),
    )
    first.ask("Use a semicolon as separator, our accountant needs it.", Say("I use a semicolon now."))
    first.leave()

    story.day(5)
    second = story.open()
    second.ask("Hi, what were we doing?", Say("We were building a CSV exporter."))
    second.leave()
    assert "CSV exporter" in second.told
    assert "Add the VAT column" in second.told

    story.day(4)
    third = story.open()
    third.ask("What is 2+2?", Say("4"))
    third.leave()
    assert third.told_goal == second.told_goal

    story.day(2)
    fourth = story.open()
    fourth.ask("continue", Say("Understood."))
    fourth.leave()
    assert fourth.told_goal == second.told_goal

    story.day(1)
    fifth = story.open()
    fifth.ask(
        "Please continue where we left off",
        write(story.project / "exporter.py", "SEPARATOR = ';'\n"),
        Say("The VAT column is added."),
    )
    fifth.leave()

    story.day(0)
    sixth = story.open()
    sixth.ask("Hello", Say("Hello!"))
    sixth.leave()
    story.show(second, third, fourth, fifth, sixth)
    for each in (fourth, fifth, sixth):
        assert each.told_goal == second.told_goal
    assert any("Write tests" in step for step in sixth.told_steps)
    assert not any("VAT" in step for step in sixth.told_steps)
    assert story.flowd.handoff()["goal"] == GOAL
