"""``/compact`` and ``/clear`` are instructions to the client: the work goes on as it was."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write

GOAL = "Build a CSV exporter for the orders in exporter.py"
KEEP = "keep the open tasks and the decision about the separator"


def test_words_for_a_compaction_are_neither_goal_nor_decision(story: Story) -> None:
    story.day(4)
    first = story.open()
    first.ask(
        GOAL,
        write(story.project / "exporter.py"),
        Say("exporter.py is written.\n\nNext steps:\n- Add the VAT column\n- Write tests"),
    )
    first.compact(KEEP)
    first.ask(
        "Go on with the VAT column",
        write(story.project / "exporter.py", "VAT\n"),
        Say("The VAT column is added."),
    )
    compacted = first.told
    first.leave()

    story.day(3)
    second = story.open()
    second.ask("What is 2+2?", Say("4"))
    second.compact(KEEP)
    second.leave()

    story.day(2)
    third = story.open()
    third.ask("Hello", Say("Hello!"))
    before_clear = third.told
    third.clear()
    third.ask("Write the tests now", write(story.project / "test_exporter.py"), Say("The tests are written."))
    third.leave()

    story.day(0)
    fourth = story.open()
    fourth.ask("Hello", Say("Hello!"))
    fourth.leave()
    print(f"--- after /compact:\n{compacted}\n\n--- before /clear:\n{before_clear}\n")
    story.show(second, third, fourth)
    assert len(story.flowd.checkpoints("precompact", first.id)) == 1
    for told in (compacted, before_clear, second.told, third.told, fourth.told):
        assert GOAL in told
        assert "keep the open tasks" not in told
    assert "Write tests" in third.told
    assert not any("Write tests" in step or "VAT" in step for step in fourth.told_steps)
    assert GOAL == fourth.told_goal == story.flowd.handoff()["goal"]
