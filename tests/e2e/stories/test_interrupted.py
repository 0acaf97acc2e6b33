"""Escape, a lost terminal, a killed client: what was under way is told as it is."""

import threading

from tests.e2e.fake_message import Hold, Say
from tests.e2e.story import Story, bash, write

GOAL = "Build a CSV exporter for the orders in exporter.py"


def test_escape_is_no_decision_and_a_finished_turn_is_finished(story: Story) -> None:
    story.day(5)
    first = story.open()
    first.begin(GOAL, write(story.project / "exporter.py"), bash("tail -f /dev/null"))
    first.wait_for_tool("tail -f /dev/null")
    first.interrupt()
    first.ask("Leave that command out", Say("Left out. exporter.py is written."))
    first.leave()

    story.day(4)
    second = story.open()
    second.ask("Hello", Say("Hello!"))
    second.leave()

    story.day(3)
    third = story.open()
    third.ask(
        "Quote names with commas in exporter.py",
        write(story.project / "exporter.py", "Q\n"),
        Say("Names are quoted."),
    )
    third.die()

    story.day(2)
    released = threading.Event()
    fourth = story.open()
    fourth.begin(
        "Add the VAT column to exporter.py", write(story.project / "exporter.py", "VAT\n"), Hold(released)
    )
    fourth.die()
    released.set()

    story.day(0)
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.show(second, third, fourth, fifth)
    assert "refused" not in second.told
    assert "tail -f /dev/null" not in second.told_decisions
    assert "unfinished when its client was killed" not in fourth.told
    assert "left unfinished when its client was killed" in fifth.told
    assert any("VAT column" in step for step in fifth.told_steps) or "VAT column" in fifth.told_field(
        "Last request"
    )
    assert fifth.told_field("Status") == "in_progress"
