"""The six-step workflow of the specification, through the MCP Inspector's command line."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.client import install, run_program
from tests.e2e.place import Place
from tests.support.served import serving

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

Call = Callable[..., Any]


def inspector(node: Path, place: Place, *target: str) -> Call:
    """Return a way to call a tool of *target* by the Inspector's command line."""
    launcher = install(INSPECTOR) / LAUNCHER

    def call(tool: str, **arguments: str) -> Any:
        pairs = [f"{name}={value}" for name, value in arguments.items()]
        words = ["--cli", *target, "--method", "tools/call", "--tool-name", tool, "--tool-arg", *pairs]
        ran = run_program([str(node), str(launcher), *words], place.environment, place.project)
        assert ran.returncode == 0, ran
        return json.loads(ran.stdout)["structuredContent"]

    return call


def six_steps(call: Call) -> None:
    created = call("create_handoff", title="Implement auth", content="JWT with refresh tokens.")
    handoff_id = created["handoff"]["id"]
    assert call("get_handoff", id=handoff_id, as_client="code")["new_count"] == 1
    assert call("mark_handoff_read", id=handoff_id, as_client="code")["marked_read"] is True
    call("add_to_handoff", id=handoff_id, type="question", content="7d or 30d?", as_client="code")
    assert call("get_handoff", id=handoff_id)["new_entries"][0]["content"] == "7d or 30d?"
    decided = call("add_to_handoff", id=handoff_id, type="decision", content="30 days.")
    assert [entry["content"] for entry in decided["missed_entries"]] == ["7d or 30d?"]
    assert call("get_handoff", id=handoff_id, as_client="code")["new_entries"][0]["content"] == "30 days."
    call("add_to_handoff", id=handoff_id, type="done", content="PR 42.", as_client="code")
    assert call("close_handoff", id=handoff_id)["closed"] is True
    assert call("get_handoff", id=handoff_id)["handoff"]["status"] == "completed"


def test_the_workflow_by_the_inspector_over_stdio(node: Path, place: Place) -> None:
    six_steps(inspector(node, place, sys.executable, "-m", "flowd", "mcp"))


def test_the_workflow_by_the_inspector_over_http(node: Path, place: Place, tmp_path: Path) -> None:
    with serving(place.environment, tmp_path) as served:
        header = f"Authorization: Bearer {served.token}"
        six_steps(inspector(node, place, served.url, "--transport", "http", "--header", header))
