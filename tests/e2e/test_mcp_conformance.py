"""The MCP conformance suite's server scenarios that apply to a server with tools only."""

from pathlib import Path

import pytest

from tests.e2e.client import install, run_program
from tests.e2e.place import Place
from tests.e2e.token_proxy import TokenProxy
from tests.support.served import serving

SUITE = "@modelcontextprotocol/conformance@0.1.16"
PROGRAM = "@modelcontextprotocol/conformance/dist/index.js"


@pytest.mark.parametrize(
    "scenario",
    [
        "server-initialize",
        "ping",
        "tools-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    ],
)
def test_the_server_conforms(scenario: str, node: Path, place: Place, tmp_path: Path) -> None:
    """The suite cannot send a token, so a proxy adds it and leaves Host and Origin as they are."""
    program = install(SUITE) / PROGRAM
    with serving(place.environment, tmp_path) as served, TokenProxy(served.port, served.token) as proxy:
        command = [str(node), str(program), "server", "--url", proxy.url, "--scenario", scenario]
        ran = run_program(command, place.environment, place.project)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # The server is stateless: the suite warns that it gives no session id, and checks nothing further.
    warnings = 1 if scenario == "server-sse-multiple-streams" else 0
    assert f"0 failed, {warnings} warnings" in ran.stdout, ran.stdout
