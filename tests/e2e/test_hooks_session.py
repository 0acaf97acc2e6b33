"""A session of the real client, seen through handoff.yaml and what the next session is told."""

from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

SESSION = "11111111-2222-4333-8444-555555555555"
TASK = "Build a parser for the configuration format in parser.py"


def test_a_session_with_tools_leaves_goal_now_files_and_branch(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    fake_api.script(
        Use("Write", {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}),
        Use("Bash", {"command": "git status --short"}),
        Say("The parser is written. Next I will add tests for nested sections."),
    )
    ran = run_claude("-p", "--session-id", SESSION, "--allowedTools", "Write", "Bash", "--", TASK)
    assert ran.returncode == 0, ran.stderr
    wait_until(lambda: flowd.checkpoints("session-end", SESSION), "the session's end is kept")
    wait_until(lambda: flowd.handoff().get("files") == ["parser.py"], "handoff.yaml shows the work")
    handoff = flowd.handoff()
    assert handoff["session_id"] == SESSION
    assert "parser for the configuration format" in handoff["goal"]
    assert handoff["now"]
    assert handoff["branch"] == "topic"
    assert {line.split()[1] for line in flowd.hook_log()} - {"fallback"} == {
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
    }
    assert not [line for line in flowd.hook_log() if "failed" in line]
