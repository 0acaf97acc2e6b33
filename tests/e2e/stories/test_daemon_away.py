"""flowd stopped or hung: a starting session hears since when, and nothing old is passed off as new."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write


def test_a_session_hears_since_when_flowd_is_away(story: Story) -> None:
    story.day(4)
    first = story.open()
    first.ask("Do job one: build exporter.py", write(story.project / "exporter.py"), Say("Job one is done."))
    first.leave()

    story.day(3)
    second = story.open()
    second.ask("Hello", Say("Hello!"))
    second.leave()
    story.flowd.stop()
    story.clock.date_files(story.flowd.state)

    # Without the daemon the hook starts a program without any variable of the test: it has the real time.
    story.day(0)
    third = story.open()
    third.ask(
        "Do job two: build login.py",
        write(story.project / "login.py"),
        write(story.project / "login.html"),
        Say("Job two is done."),
    )
    third.leave()
    fourth = story.open()
    fourth.ask("Hello", Say("Hello!"))
    fourth.leave()
    shown = story.flow("show")
    story.flowd.start()
    story.rest()

    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.flowd.suspend()
    sixth = story.open()
    sixth.ask("Hello", Say("Hello!"))
    sixth.leave()
    story.flowd.resume()
    story.show(second, third, fourth, fifth, sixth)
    print(shown)
    assert "flowd has not" not in second.told
    # On a loaded machine the hook has no time to have a briefing composed, and says only that.
    for told in (third.told, fourth.told):
        assert "flowd has not" in told
        assert " since " in told
        assert "job one" in told or "what it knows of earlier work is missing here" in told
    assert "flowd has not been running since" in shown
    assert "(3 days ago)" in shown
    assert "just now" not in shown
    assert "flowd has not" not in fifth.told
    assert "login.py" in fifth.told
    assert "flowd has not answered since" in sixth.told
    for session in (second, third, fourth, fifth, sixth):
        for given in story.flowd.facts("injected", session.id):
            assert given["text"] == story.given_to(session)
    assert story.flowd.facts("injected", second.id)
