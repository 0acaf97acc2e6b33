"""The real client while the daemon is stopped or hung: no hook fails, waits or loses anything."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd
from tests.support.waiting import wait_until

SESSION = "11111111-2222-4333-8444-555555555555"
TASK = "Build a parser for the configuration format in parser.py"
BUDGET_MS, START_BUDGET_MS = 300.0, 1000.0
EVENTS = {
    "SessionStart",
    "UserPromptSubmit",
    "PreCompact",
    "SubagentStop",
    "Stop",
    "SessionEnd",
}

TROUBLES: dict[str, Callable[[RunningFlowd], None]] = {
    "stopped": RunningFlowd.stop,
    "hung": RunningFlowd.suspend,
}


def work(run_claude: RunClaude, fake_api: FakeApi, place: Place) -> None:
    """Have the client do a turn with a tool, compact, and do another turn."""
    fake_api.script(
        Use("Write", {"file_path": str(place.project / "parser.py"), "content": "def parse(): ...\n"}),
        Say("The parser is written. Next I will add tests."),
        Say("Going on."),
    )
    for words in (
        ("--session-id", SESSION, "--allowedTools", "Write", "--", TASK),
        ("--resume", SESSION, "/compact keep the parser"),
        ("--resume", SESSION, "Go on."),
    ):
        ran = run_claude("-p", *words)
        assert ran.returncode == 0, ran.stderr


def complaints(place: Place) -> list[str]:
    """Return what the client noted about hooks that did not go well."""
    (transcript,) = (place.home / ".claude" / "projects").glob(f"*/{SESSION}.jsonl")
    records = [json.loads(line) for line in transcript.read_text().splitlines()]
    kinds = [str((record.get("attachment") or {}).get("type")) for record in records]
    return [kind for kind in kinds if "error" in kind or "cancelled" in kind]


def spooled_events(spool: Path) -> list[str]:
    return [json.loads(file.read_bytes())["hook_event_name"] for file in sorted(spool.glob("*.json"))]


@pytest.mark.parametrize("trouble", list(TROUBLES))
def test_every_hook_keeps_its_budget_and_the_compaction_is_on_disk(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place, trouble: str
) -> None:
    TROUBLES[trouble](flowd)
    work(run_claude, fake_api, place)
    wait_until(lambda: flowd.hook_log()[-1].endswith("fallback saved"), "the state is saved without a daemon")
    lines = [line.split() for line in flowd.hook_log() if " fallback " not in line]
    assert {line[1] for line in lines} == EVENTS
    for _, event, _, took_ms, _ in lines:
        assert float(took_ms) <= (START_BUDGET_MS if event == "SessionStart" else BUDGET_MS)
    assert complaints(place) == []
    assert spooled_events(flowd.state / "spool").count("PreCompact") == 1
    handoff = flowd.handoff()
    assert (handoff["branch"], handoff["files"]) == ("topic", ["parser.py"])


@pytest.mark.parametrize("trouble", ["stopped", "hung"])
def test_a_daemon_that_comes_back_finds_the_compaction_once(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place, trouble: str
) -> None:
    TROUBLES[trouble](flowd)
    work(run_claude, fake_api, place)
    if trouble == "hung":
        flowd.resume()
        flowd.stop()
    flowd.start()
    wait_until(lambda: not list((flowd.state / "spool").glob("*.json")), "the spool is taken in")
    wait_until(lambda: flowd.facts("compacted", SESSION), "the compaction is read")
    wait_until(lambda: flowd.handoff().get("session_id") == SESSION, "handoff.yaml shows the session")
    assert len(flowd.checkpoints("precompact", SESSION)) == 1
    assert "parser for the configuration format" in flowd.handoff()["goal"]
