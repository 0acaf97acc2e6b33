"""The real Claude Code client knows the server, connects to it, and uses a tool in a turn."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.e2e.client import run_program
from tests.e2e.fake_api import FakeApi
from tests.e2e.fake_message import Say, Use
from tests.e2e.place import Place, RunClaude
from tests.support.served import serving

FLOWD = [sys.executable, "-m", "flowd"]


def register(run_claude: RunClaude) -> None:
    added = run_claude("mcp", "add", "--scope", "user", "flowd", "--", *FLOWD, "mcp")
    assert added.returncode == 0, added.stderr


def flow_thread(place: Place, *words: str) -> Any:
    command = [sys.executable, "-c", "from flowd.cli.flow import main; raise SystemExit(main())"]
    ran = run_program([*command, "thread", *words, "--json"], place.environment, place.project)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_claude_code_lists_the_server_as_connected(run_claude: RunClaude) -> None:
    register(run_claude)
    listed = run_claude("mcp", "list")
    line = next(line for line in listed.stdout.splitlines() if line.startswith("flowd:"))
    assert line.endswith("Connected"), listed


def test_claude_code_connects_over_http_with_the_token(
    run_claude: RunClaude, place: Place, tmp_path: Path
) -> None:
    with serving(place.environment, tmp_path) as served:
        add = ["mcp", "add", "--scope", "user", "--transport", "http", "flowd", served.url]
        assert run_claude(*add, "--header", f"Authorization: Bearer {served.token}").returncode == 0
        assert "Connected" in run_claude("mcp", "list").stdout
        assert run_claude("mcp", "remove", "--scope", "user", "flowd").returncode == 0
        assert run_claude(*add, "--header", "Authorization: Bearer wrong").returncode == 0
        assert "Connected" not in run_claude("mcp", "list").stdout


def test_claude_code_calls_a_tool_in_a_scripted_turn(
    run_claude: RunClaude, place: Place, fake_api: FakeApi
) -> None:
    """A handoff made on the command line is read, answered and found again."""
    register(run_claude)
    created = flow_thread(place, "create", "Auth", "JWT with refresh tokens.", "--as", "chat")
    handoff_id = created["handoff"]["id"]
    answer = {"id": handoff_id, "type": "question", "content": "7d or 30d?", "as_client": "code"}
    fake_api.script(
        Use("ToolSearch", {"query": "select:mcp__flowd__get_handoff,mcp__flowd__add_to_handoff"}),
        Use("mcp__flowd__get_handoff", {"id": handoff_id}),
        Use("mcp__flowd__add_to_handoff", answer),
        Say("I asked."),
    )
    turn = run_claude(
        "-p", "Pick up the handoff", "--allowedTools", "mcp__flowd__get_handoff", "mcp__flowd__add_to_handoff"
    )
    assert (turn.returncode, turn.stdout.strip()) == (0, "I asked."), turn
    assert fake_api.saw("JWT with refresh tokens.")
    assert fake_api.saw("You seem to be Claude Code")
    entries = flow_thread(place, "get", handoff_id, "--as", "chat")["new_entries"]
    assert [(entry["from_client"], entry["content"]) for entry in entries] == [("code", "7d or 30d?")]
