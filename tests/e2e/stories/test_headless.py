"""Programs that ask by ``claude -p`` never change the work, and are given nothing of it."""

from tests.e2e.fake_message import Say
from tests.e2e.story import OPENING, Story, write

GOAL = "Build a CSV exporter for the orders in exporter.py"


def test_one_shots_of_programs_change_nothing(story: Story) -> None:
    story.day(5)
    first = story.open()
    first.ask(
        GOAL,
        write(story.project / "exporter.py"),
        Say("exporter.py writes the orders as CSV.\n\nNext steps:\n- Add the VAT column\n- Write tests"),
    )
    first.leave()
    kept = story.flowd.handoff()
    documents = story.documents()

    story.day(4)
    asked = story.run_headless("Summarise README.md in one word", Say("Shop"))
    story.day(3)
    edited = story.run_headless(
        "Translate README.md into German", write(story.project / "README.de.md"), Say("Done.")
    )
    story.day(2)
    unkept = story.run_headless("What is 2+2?", Say("4"), words=("--no-session-persistence",))

    story.day(0)
    last = story.open()
    last.ask("Hi, what is next?", Say("The VAT column."))
    last.leave()
    story.show(last)
    for session in (asked, edited, unkept):
        assert not any(turn.count(OPENING) for turn in story.turns_of(session))
        assert not any(session[:8] in name for name in story.documents())
    assert story.documents() == documents
    assert last.told_goal == GOAL
    assert last.told_steps[:2] == ["Add the VAT column", "Write tests"]
    assert "README.de.md" not in last.told
    assert {**kept, "timestamp": 0} == {**story.flowd.handoff(), "timestamp": 0}
    assert unkept not in story.everything_stored()
