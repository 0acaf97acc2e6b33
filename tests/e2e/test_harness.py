"""The harness itself: the fake API can make the real client do what the other tests rely on."""

from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Fail, Say, Use
from tests.e2e.place import RunClaude


def test_a_scripted_turn_is_printed(run_claude: RunClaude, fake_api: FakeApi) -> None:
    fake_api.script(Say("Hello from the script."))
    turn = run_claude("-p", "hello")
    assert (turn.returncode, turn.stdout.strip()) == (0, "Hello from the script.")
    assert fake_api.saw("hello")


def test_high_reported_usage_provokes_a_compaction(run_claude: RunClaude, fake_api: FakeApi) -> None:
    fake_api.script(
        Use("Bash", {"command": "echo one"}, tokens=99_000),
        Use("Bash", {"command": "echo two"}, tokens=99_000),
        Say("Done."),
    )
    turn = run_claude("-p", "work", "--allowedTools", "Bash", CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
    assert turn.returncode == 0, turn
    assert any(asked.is_compaction for asked in fake_api.asked)
    assert fake_api.saw("Summary:\\nScripted summary of the conversation.")


def test_after_a_scripted_failure_the_client_tries_again(run_claude: RunClaude, fake_api: FakeApi) -> None:
    fake_api.script(Fail(529, "overloaded, says the script"), Say("Second try."))
    turn = run_claude("-p", "hello")
    assert (turn.returncode, turn.stdout.strip()) == (0, "Second try.")
    assert len(fake_api.turns()) == 2
