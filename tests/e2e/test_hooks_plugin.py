"""The Claude Code plugin in the real client: alone, beside the settings hooks, and without any flowd."""

import json
from collections import Counter
from pathlib import Path

from tests.e2e.client import run_program
from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

SESSION = "11111111-2222-4333-8444-555555555555"
ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
OF_A_TURN = ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


def one_turn(run_claude: RunClaude, fake_api: FakeApi) -> None:
    fake_api.script(Say("Done."))
    ran = run_claude("-p", "--plugin-dir", str(PLUGIN), "--session-id", SESSION, "--", "Build a parser")
    assert ran.returncode == 0, ran.stderr


def logged(flowd: RunningFlowd) -> Counter[tuple[str, str]]:
    """Return how often each event was acted upon, and how often left to the other hook."""
    lines = [line.split() for line in flowd.hook_log() if " fallback " not in line]
    return Counter((line[1], "left" if line[2] == "left-to-settings" else "done") for line in lines)


def test_the_client_finds_nothing_wrong_with_plugin_and_marketplace(claude: Path, place: Place) -> None:
    for folder in (PLUGIN, ROOT):
        ran = run_program([str(claude), "plugin", "validate", str(folder)], place.environment, place.project)
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_plugin_alone_tells_flowd_of_every_event(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd
) -> None:
    assert flowd.flowd("uninstall", "--hooks").returncode == 0
    one_turn(run_claude, fake_api)
    assert logged(flowd) == Counter({(event, "done"): 1 for event in OF_A_TURN})
    wait_until(lambda: flowd.checkpoints("session-end", SESSION), "the session's end is kept")


def test_beside_the_settings_hooks_nothing_is_told_twice(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd
) -> None:
    flowd.flow("save", "Half way", "--goal", "Ship version two")
    one_turn(run_claude, fake_api)
    outcomes = ("done", "left")
    assert logged(flowd) == Counter({(event, outcome): 1 for event in OF_A_TURN for outcome in outcomes})
    (turn,) = fake_api.turns()
    assert json.dumps(turn.body).count("<flow-guardian-context>") == 1


def test_without_flowd_the_plugin_does_nothing_and_says_nothing(
    run_claude: RunClaude, fake_api: FakeApi, place: Place
) -> None:
    one_turn(run_claude, fake_api)
    (transcript,) = (place.home / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
    kinds = [
        (json.loads(line).get("attachment") or {}).get("type") for line in transcript.read_text().splitlines()
    ]
    assert not [kind for kind in kinds if kind and kind.startswith("hook_") and kind != "hook_success"]
    assert not (place.project / ".flow-guardian").exists()
