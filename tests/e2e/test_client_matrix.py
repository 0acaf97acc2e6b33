"""flowd with clients of many versions: their hooks run, their settings stay in force, a compaction is kept.

FLOWD_E2E_CLIENTS names the versions, by commas; ``all`` stands for every one of CLIENTS and the newest.
"""

import json
import os
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from flowd.model.client import parse_version
from tests.e2e.client import has_npm, install_claude, newest_version
from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.e2e.running_flowd import RunningFlowd, kill_group
from tests.support.waiting import wait_until

CLIENTS = ("1.0.128", "2.0.14", "2.0.77", "2.1.42", "2.1.75", "2.1.76", "2.1.150", "2.1.326")
NEWEST = "newest"
USUAL = ("1.0.128", "2.0.77", "2.1.75", NEWEST)
OPENING = "<flow-guardian-context>"
TASK = "Build a parser for the configuration format in parser.py"
# Clients before this one forget what SessionStart says after a /compact; after an automatic one they do not.
KEEPS_CONTEXT_AFTER_COMMAND = (2, 0, 77)
DEADLINE_S = 120.0


def chosen_clients() -> list[str]:
    chosen = os.environ.get("FLOWD_E2E_CLIENTS", "")
    if chosen == "all":
        return [*CLIENTS, NEWEST]
    return chosen.split(",") if chosen else list(USUAL)


@pytest.fixture(scope="module", params=chosen_clients())
def claude(request: pytest.FixtureRequest) -> Path:
    """The client of one version."""
    if not has_npm():
        pytest.skip("npm is needed to install Claude Code")
    return install_claude(newest_version() if request.param == NEWEST else request.param)


def allow(flowd: RunningFlowd, **permissions: list[str]) -> None:
    """Put *permissions* into the person's settings, beside flowd's hooks."""
    file = Path(flowd.environment["HOME"]) / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "permissions": permissions}))


def write_a_file(place: Place, name: str) -> Use:
    return Use("Write", {"file_path": str(place.project / name), "content": "def parse(): ...\n"})


def session_of(flowd: RunningFlowd) -> str:
    """Return the one session that there was; clients 1.0 cannot be given an id and go on with it."""
    wait_until(lambda: flowd.facts("state"), "a session is known")
    (session,) = {body["state"]["session_id"] for body in flowd.facts("state")}
    return str(session)


def reached_the_daemon(flowd: RunningFlowd) -> set[str]:
    """Return the events whose hooks found the daemon and were answered in time."""
    lines = [line.split() for line in flowd.hook_log()]
    return {line[1] for line in lines if not line[2].startswith(("away", "hung", "late", "failed"))}


def test_hooks_run_and_what_the_person_denies_stays_denied(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    for number, permissions in enumerate(({"allow": ["Write"]}, {"deny": ["Write"]})):
        allow(flowd, **permissions)
        fake_api.script(write_a_file(place, f"{number}.py"), Say("Done."))
        ran = run_claude("-p", "--allowedTools", "Write", "--", TASK)
        assert ran.returncode == 0, ran.stderr
    assert [file.name for file in place.project.glob("*.py")] == ["0.py"]
    assert reached_the_daemon(flowd) >= {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    assert not [line for line in flowd.hook_log() if "failed" in line]


def test_doctor_asks_the_client_and_it_accepts_the_hooks(flowd: RunningFlowd, claude: Path) -> None:
    checks = json.loads(flowd.flowd("doctor", "--json").stdout)["findings"]
    (hooks,) = [check for check in checks if check["check"] == "hooks"]
    assert hooks["level"] == "ok", hooks
    assert f"Claude Code {version_of(claude)} was asked and accepts its hooks" in hooks["seen"]


def test_an_automatic_compaction_is_one_checkpoint_and_the_state_is_told_again(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    fake_api.script(
        write_a_file(place, "parser.py"),
        Use("Bash", {"command": "echo one"}, tokens=190_000),
        Say("The parser is written."),
    )
    words = ("-p", "--allowedTools", "Write", "Bash", "--", TASK)
    ran = run_claude(*words, CLAUDE_CODE_AUTO_COMPACT_WINDOW="100000")
    assert ran.returncode == 0, ran.stderr
    session = session_of(flowd)
    wait_until(lambda: len(flowd.facts("compacted", session)) == 1, "the compaction is in the transcript")
    (checkpoint,) = flowd.checkpoints("precompact", session)
    assert checkpoint["state"]["files"] == ["parser.py"]
    turns = fake_api.turns_after_compaction()
    assert turns
    assert [turn.count(OPENING) for turn in turns] == [1] * len(turns)


def test_a_compaction_by_command_is_one_checkpoint_and_the_state_is_told_again(
    claude: Path, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    fake_api.script(write_a_file(place, "parser.py"), Say("The parser is written."), Say("Going on."))
    converse(claude, place, TASK, "/compact", "Go on with the tests.")
    session = session_of(flowd)
    wait_until(lambda: len(flowd.facts("compacted", session)) == 1, "the compaction is in the transcript")
    (checkpoint,) = flowd.checkpoints("precompact", session)
    assert "parser for the configuration format" in checkpoint["state"]["goal"]
    assert len([line for line in flowd.hook_log() if line.split()[1] == "SessionStart"]) == 2
    version = parse_version(version_of(claude))
    assert version is not None
    if version >= KEEPS_CONTEXT_AFTER_COMMAND:
        (turn,) = fake_api.turns_after_compaction()
        assert turn.count(OPENING) == 1


def test_a_session_resumed_after_a_compaction_has_its_state_once(
    run_claude: RunClaude, fake_api: FakeApi, flowd: RunningFlowd, place: Place
) -> None:
    """Clients before 2.1.121 forget what the compaction told them, those before 2.0.77 even their id."""
    fake_api.script(write_a_file(place, "parser.py"), Say("The parser is written."))
    run_claude("-p", "--allowedTools", "Write", "--", TASK)
    session = session_of(flowd)
    wait_until(lambda: flowd.checkpoints("session-end", session), "the session's end is kept")
    for prompt in ("/compact", "Go on with the tests."):
        ran = run_claude("-p", "--resume", session, prompt)
        assert ran.returncode == 0, ran.stderr
    (turn,) = fake_api.turns_after_compaction()
    assert turn.count(OPENING) == 1
    assert turn.count("parser for the configuration format") >= 1


def version_of(claude: Path) -> str:
    said = subprocess.run([claude, "--version"], capture_output=True, text=True, check=True).stdout
    return said.split()[0]


def converse(claude: Path, place: Place, *prompts: str) -> None:
    """Have one process of the client answer *prompts*, one after the other."""
    words = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    process = subprocess.Popen(
        [str(claude), *words, "--allowedTools", "Write"],
        cwd=place.project,
        env=place.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    overdue = threading.Timer(DEADLINE_S, kill_group, [process])
    overdue.start()
    try:
        with process:
            for prompt in prompts:
                process.stdin.write(json.dumps(spoken(prompt)) + "\n")
                process.stdin.flush()
                next(line for line in process.stdout if json.loads(line)["type"] == "result")
            process.stdin.close()
            assert process.wait() == 0
    finally:
        overdue.cancel()


def spoken(prompt: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
    return {"type": "user", "message": message}
