"""flowd stopped or hung: a starting session hears since when, and nothing old is passed off as new."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write


def test_a_session_hears_since_when_flowd_is_away(story: Story) -> None:
    story.day(3)
    first = story.open()
    first.ask("Do job one: build exporter.py", write(story.project / "exporter.py"), Say("Job one is done."))
    first.leave()
    story.flowd.stop()

    story.day(2)
    second = story.open()
    second.ask("Do job two: build login.py", write(story.project / "login.py"), Say("Job two is done."))
    second.leave()

    story.day(1)
    third = story.open()
    third.ask("Hello", Say("Hello!"))
    third.leave()
    shown = story.flow("show")
    story.flowd.start()
    story.rest()

    story.day(0)
    fourth = story.open()
    fourth.ask("Hello", Say("Hello!"))
    fourth.leave()
    story.flowd.suspend()
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.flowd.resume()
    story.show(second, third, fourth, fifth)
    print(shown)
    assert "flowd has not been running since" in second.told
    assert "(1 day ago)" in second.told
    assert "flowd has not been running since" in third.told
    assert "(2 days ago)" in third.told
    assert "job one" in third.told
    assert "just now" not in shown
    assert "flowd has not" not in fourth.told
    assert "login.py" in fourth.told
    given = {body["source"]: body["text"] for body in story.flowd.facts("injected", fifth.id)}
    assert fifth.told == "" or "flowd does not answer since" in fifth.told
    assert bool(given) == bool(fifth.told)
