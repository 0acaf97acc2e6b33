"""A second worktree: its sessions are given their own work, and the other checkout's is named as such."""

from tests.e2e.fake_message import Say
from tests.e2e.story import Story, write

EXPORT = "Build a CSV exporter for the orders in exporter.py"


def test_work_stays_with_its_worktree(story: Story) -> None:
    story.day(5)
    first = story.open()
    first.ask(
        EXPORT, write(story.project / "exporter.py"), Say("Written.\n\nNext steps:\n- Add the VAT column")
    )
    first.leave()

    story.day(4)
    other = story.project.parent / "shop-wt"
    story.git("worktree", "add", "-q", "-b", "feature", str(other))
    story.trust(other)
    second = story.open(cwd=other)
    second.ask(
        "Build a login page in login.py",
        write(other / "login.py"),
        write(other / "login.html"),
        Say("Written.\n\nNext steps:\n- Hash the passwords"),
    )
    second.leave()

    story.day(3)
    third = story.open()
    third.ask("Hello", Say("Hello!"))
    third.leave()

    story.day(1)
    below = other / "pages"
    below.mkdir()
    story.trust(below)
    fourth = story.open(cwd=below)
    fourth.ask("Hello", Say("Hello!"))
    fourth.leave()

    story.day(0)
    story.git("switch", "-q", "-c", "spike")
    fifth = story.open()
    fifth.ask("Hello", Say("Hello!"))
    fifth.leave()
    story.git("switch", "-q", "main")
    sixth = story.open()
    sixth.ask("Hello", Say("Hello!"))
    sixth.leave()
    story.show(second, third, fourth, fifth, sixth)
    assert "CSV exporter" not in second.told_goal
    assert "branch was" not in second.told
    assert "CSV exporter" in second.told_other
    assert str(story.project) in second.told_other
    assert third.told_goal == EXPORT
    assert f"in {other}, branch feature" in third.told_other
    assert "login page" in fourth.told_goal
    assert fourth.told_steps[0] == "Hash the passwords"
    assert "the branch was main" in fifth.told
    assert sixth.told_goal == EXPORT
    assert "branch was" not in sixth.told
