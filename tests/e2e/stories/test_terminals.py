"""Two terminals on different things: two works, each session given its own, the other named as active."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write

EXPORT = "Build a CSV exporter for the orders in exporter.py"
LOGIN = "Speed up the login page, it takes four seconds"


def test_two_terminals_and_an_old_session_resumed(story: Story) -> None:
    story.day(3)
    left = story.open()
    left.ask(
        EXPORT,
        write(story.project / "exporter.py"),
        Say("exporter.py is written.\n\nNext steps:\n- Add the VAT column"),
    )
    right = story.open()
    right.ask(
        LOGIN,
        write(story.project / "login.sql"),
        write(story.project / "login.py"),
        Say("An index makes it fast.\n\nNext steps:\n- Measure it on staging"),
    )
    assert "right now" in right.told
    right.leave()
    left.ask(
        "Quote names with commas", write(story.project / "exporter.py", "QUOTE = True\n"), Say("Quoted.")
    )
    left.leave()

    story.day(2)
    third = story.open()
    third.ask("What is 2+2?", Say("4"))
    third.leave()

    story.day(1)
    again = story.open(resume=right.id)
    again.compact()
    again.ask("Go on", Say("I will measure it on staging."))
    again.leave()

    story.day(0)
    beside = story.open(resume=left.id)
    beside.ask("Add the VAT column", write(story.project / "exporter.py", "VAT = 19\n"), Say("Added."))
    last = story.open()
    last.ask("Hello", Say("Hello!"))
    last.leave()
    beside.leave()
    story.show(right, third, again, beside, last)
    assert third.told_goal == EXPORT
    assert "login page" in third.told_other
    assert again.told_goal == LOGIN
    assert again.told_steps[:1] == ["Measure it on staging"]
    assert "CSV exporter" in again.told_other
    assert last.told_goal == EXPORT
    assert "goes on right now" in last.told
    assert "login page" in last.told_other
    assert "at work right now" not in last.told_other
