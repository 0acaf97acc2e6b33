"""A compaction by the real client: one checkpoint, and the state once in what the model is sent next."""

import json

from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

SESSION = "11111111-2222-4333-8444-555555555555"
TASK = "Build a parser for the configuration format in parser.py"
OPENING = "<flow-guardian-context>"


def compactions_seen(flowd: RunningFlowd) -> int:
    """Return how many compactions the transcript has told flowd of."""
    return len(flowd.facts("compacted", SESSION))


def test_a_manual_compaction(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    fake_api.script(
        Use("Write", {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}),
        Say("The parser is written. Next I will add tests for nested sections."),
    )
    run_claude("-p", "--session-id", SESSION, "--allowedTools", "Write", "--", TASK)
    compacted = run_claude("-p", "--resume", SESSION, "/compact keep the parser")
    assert compacted.returncode == 0, compacted.stderr
    fake_api.script(Say("Going on."))
    run_claude("-p", "--resume", SESSION, "Go on with the tests.")
    wait_until(lambda: compactions_seen(flowd) == 1, "the compaction is seen in the transcript too")
    (checkpoint,) = flowd.checkpoints("precompact", SESSION)
    assert "parser for the configuration format" in checkpoint["state"]["goal"]
    (turn,) = fake_api.turns_after_compaction()
    assert turn.count(OPENING) == 1
    assert "parser for the configuration format" in json.dumps(turn.body).partition(OPENING)[2]


def test_an_automatic_compaction(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    fake_api.script(
        Use("Write", {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}),
        Use("Bash", {"command": "echo one"}, tokens=190_000),
        Say("The parser is written."),
    )
    words = ("-p", "--session-id", SESSION, "--allowedTools", "Write", "Bash", "--", TASK)
    ran = run_claude(*words, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
    assert ran.returncode == 0, ran.stderr
    assert any(line.split()[1] == "PreCompact" for line in flowd.hook_log())
    wait_until(lambda: compactions_seen(flowd) == 1, "the compaction is seen in the transcript too")
    (checkpoint,) = flowd.checkpoints("precompact", SESSION)
    assert checkpoint["state"]["files"] == ["parser.py"]
    turns = fake_api.turns_after_compaction()
    assert turns
    assert [turn.count(OPENING) for turn in turns] == [1] * len(turns)
