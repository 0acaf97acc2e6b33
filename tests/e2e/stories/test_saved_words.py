"""What a person saved stands until it is worked on, changed or cleared."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, bash, write

NOTE = "Stopped before the VAT column; ask Eva about rounding"
GOAL = "Build a CSV exporter for the orders in exporter.py"


def test_a_note_outlives_goodbyes_and_visitors_until_it_is_worked_on(story: Story) -> None:
    story.day(6)
    first = story.open()
    first.ask(GOAL, write(story.project / "exporter.py"), Say("exporter.py is written."))
    story.flow("save", NOTE)
    first.leave()
    assert story.flowd.handoff()["now"] == NOTE

    story.day(5)
    second = story.open()
    second.ask("Where were we?", Say("You wanted to ask Eva about rounding."))
    second.leave()

    story.day(3)
    third = story.open()
    third.ask("What is the capital of Peru?", Say("Lima."))
    third.leave()

    story.day(2)
    fourth = story.open()
    fourth.ask(
        "Eva says to round half up. Add the VAT column to exporter.py.",
        write(story.project / "exporter.py", "ROUND = 'half up'\n"),
        Say("The VAT column is in, rounded half up."),
    )
    fourth.leave()

    story.day(0)
    fifth = story.open()
    fifth.ask("Good morning", Say("Good morning!"))
    fifth.leave()
    story.show(second, third, fourth, fifth)
    for each in (second, third, fourth):
        assert each.told_field("Now") == NOTE
    assert NOTE not in fifth.told
    assert fifth.told_field("Now") == "The VAT column is in, rounded half up."
    assert fifth.told_goal == GOAL


def test_a_note_saved_by_a_command_of_the_session_outlives_its_own_reply(story: Story) -> None:
    story.day(4)
    first = story.open()
    first.ask(GOAL, write(story.project / "exporter.py"), Say("exporter.py is written."))
    first.ask(
        "/flow-save Stopped before the VAT column",
        bash("flow save 'Stopped before the VAT column'"),
        Say("Saved: Stopped before the VAT column."),
    )
    first.leave()
    assert story.flowd.handoff()["now"] == "Stopped before the VAT column"

    told = []
    for days_ago in (3, 2, 1):
        story.day(days_ago)
        session = story.open()
        session.ask("Hello", Say("Hello!"))
        session.leave()
        told.append(session)
    story.show(*told)
    for each in told:
        assert each.told_field("Now") == "Stopped before the VAT column"
        assert "Saved:" not in each.told


def test_a_saved_status_and_goal_belong_to_their_work_and_can_be_cleared(story: Story) -> None:
    story.day(6)
    first = story.open()
    first.ask(GOAL, write(story.project / "exporter.py"), Say("exporter.py is written. All done."))
    first.leave()
    story.flow("save", "--status", "in_progress", "--goal", "Exports that the accountant accepts")

    story.day(5)
    second = story.open()
    second.ask("Thanks, continue", Say("Nothing is left to do."))
    second.leave()
    assert story.flowd.handoff()["status"] == "in_progress"
    assert "in_progress (your words, 1 day ago;" in " ".join(story.flow("show").split())

    story.day(3)
    third = story.open()
    third.ask(
        "New task: write a Dockerfile and a compose file for the web shop",
        write(story.project / "Dockerfile"),
        write(story.project / "compose.yaml"),
        Say("Both files are written."),
    )
    third.ask(
        "Pin the base image in the Dockerfile", write(story.project / "Dockerfile", "2\n"), Say("Pinned.")
    )
    third.leave()

    story.day(2)
    fourth = story.open()
    fourth.ask("Hello", Say("Hello!"))
    fourth.leave()

    refused = story.flowd.flow("save", "--goal", "")
    assert (refused.returncode, "--clear goal" in refused.stderr) == (1, True)
    story.flow("save", "--goal", "A shop in a container")
    story.day(1)
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()

    story.flow("save", "--clear", "goal")
    story.day(0)
    sixth = story.open()
    sixth.ask("Hello", Say("Hello!"))
    sixth.leave()
    story.show(second, third, fourth, fifth, sixth)
    assert second.told_goal == third.told_goal == "Exports that the accountant accepts"
    assert second.told_field("Status") == third.told_field("Status") == "in_progress"
    assert "Dockerfile" in fourth.told_goal
    assert fifth.told_goal == "A shop in a container"
    assert sixth.told_goal == fourth.told_goal
