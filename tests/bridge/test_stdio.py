"""The six-step workflow of the specification, by the official client over both transports."""

import json
import os
import socket
import subprocess
import sys
import threading
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from flowd.store.threads.threads import Threads

FLOWD = [sys.executable, "-m", "flowd"]
DEADLINE_S = 60
MODES = ["legacy", "auto"]


async def call(client: Client, tool: str, **arguments: str) -> Any:
    result = await client.call_tool(tool, arguments)
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert not result.is_error, block.text
    assert json.loads(block.text) == result.structured_content
    return result.structured_content


async def six_steps(client: Client) -> None:
    """Chat creates, Code reads and asks, Chat decides, Code is done, someone closes."""
    created = await call(client, "create_handoff", title="Implement auth", content="JWT with refresh tokens.")
    handoff_id = created["handoff"]["id"]

    picked_up = await call(client, "get_handoff", id=handoff_id, as_client="code")
    assert [entry["content"] for entry in picked_up["new_entries"]] == ["JWT with refresh tokens."]
    marked = await call(client, "mark_handoff_read", id=handoff_id, as_client="code")
    assert marked == {"marked_read": True, "client": "code", "last_seen": created["entries"][0]["seq"]}

    asked = await call(
        client, "add_to_handoff", id=handoff_id, type="question", content="7d or 30d?", as_client="code"
    )
    assert asked["missed_entries"] == []

    seen_by_chat = await call(client, "get_handoff", id=handoff_id)
    assert [entry["type"] for entry in seen_by_chat["new_entries"]] == ["question"]
    decided = await call(client, "add_to_handoff", id=handoff_id, type="decision", content="30 days.")
    assert [entry["content"] for entry in decided["missed_entries"]] == ["7d or 30d?"]

    back_in_code = await call(client, "get_handoff", id=handoff_id, as_client="code")
    assert [entry["content"] for entry in back_in_code["new_entries"]] == ["30 days."]
    assert len(back_in_code["entries"]) == 3
    await call(client, "add_to_handoff", id=handoff_id, type="done", content="PR #42.", as_client="code")

    closed = await call(client, "close_handoff", id=handoff_id)
    assert closed == {"closed": True, "id": handoff_id, "title": "Implement auth"}
    after = await call(client, "get_handoff", id=handoff_id)
    assert (after["handoff"]["status"], after["entries"]) == ("completed", [])


@pytest.mark.parametrize("mode", MODES)
def test_the_workflow_over_stdio(mode: str, home: dict[str, str]) -> None:
    async def session() -> None:
        server = StdioServerParameters(command=FLOWD[0], args=[*FLOWD[1:], "mcp"], env=home)
        async with Client(server, mode=mode) as client:
            await six_steps(client)

    anyio.run(session)


@pytest.mark.parametrize("mode", MODES)
def test_the_workflow_over_http(mode: str, served: Any) -> None:
    async def session() -> None:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=DEADLINE_S) as http,
            Client(streamable_http_client(served.url, http_client=http), mode=mode) as client,
        ):
            await six_steps(client)

    anyio.run(session)


def test_what_one_transport_writes_the_other_reads(
    served: Any, home: dict[str, str], threads: Threads
) -> None:
    handoff_id = threads.create(title="t", content="from elsewhere", client="chat").handoff.id

    async def session() -> Any:
        server = StdioServerParameters(command=FLOWD[0], args=[*FLOWD[1:], "mcp"], env=home)
        async with Client(server) as client:
            return await call(client, "get_handoff", id=handoff_id)

    assert anyio.run(session)["entries"][0]["content"] == "from elsewhere"


def talk_on_stdio(home: dict[str, str], *lines: str) -> tuple[list[Any], str]:
    """Send *lines* to ``flowd mcp``, await an answer to each, and only then close its input."""
    program = subprocess.Popen(
        [*FLOWD, "mcp"],
        env=home,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    too_late = threading.Timer(DEADLINE_S, program.kill)
    too_late.start()
    assert program.stdin is not None
    assert program.stdout is not None
    program.stdin.write("".join(f"{line}\n" for line in lines))
    program.stdin.flush()
    answers = [json.loads(program.stdout.readline()) for _ in lines]
    rest, log = program.communicate()
    too_late.cancel()
    assert program.returncode == 0, log
    assert rest == ""
    return answers, log


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{not json, PRIVATE-WORDS", -32700),
        ('{"jsonrpc": "1.0", "id": 1, "method": "PRIVATE-WORDS"}', -32600),
        ('["PRIVATE-WORDS"]', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "\\ud800"}', -32700),
    ],
    ids=["not json", "wrong version", "no object", "lone surrogate"],
)
def test_a_malformed_line_is_answered_and_not_logged(line: str, code: int, home: dict[str, str]) -> None:
    answers, log = talk_on_stdio(home, line)
    assert [answer["error"]["code"] for answer in answers] == [code]
    assert "PRIVATE-WORDS" not in log


def test_an_unknown_method_is_answered(home: dict[str, str]) -> None:
    answers, _ = talk_on_stdio(home, '{"jsonrpc": "2.0", "id": 5, "method": "handoffs/list"}')
    assert answers[0]["id"] == 5
    assert answers[0]["error"]["code"] == -32601


def test_stdio_ends_when_its_input_ends_and_says_nothing_unasked(home: dict[str, str]) -> None:
    assert talk_on_stdio(home) == ([], "")


def test_serve_ends_at_once_on_sigterm_with_a_stream_still_open(served: Any) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as stream:
        stream.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\n")
        served.process.terminate()
        assert served.process.wait(timeout=DEADLINE_S) == 0
    assert served.process.stdout.read() == ""
    assert served.log.read_text().endswith("flowd.bridge stopped\n")


def test_serve_leaves_with_the_daemon_that_started_it(home: dict[str, str]) -> None:
    theirs, ours = os.pipe()
    child = subprocess.Popen(
        [*FLOWD, "serve", "--port", "0"],
        env={**home, "FLOWD_LIFELINE": str(theirs)},
        pass_fds=[theirs],
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    assert child.stderr is not None
    assert "listening" in child.stderr.readline()
    os.close(ours)
    assert child.wait(timeout=DEADLINE_S) == 0
    child.stderr.close()


def test_a_second_serve_on_the_port_says_so_and_leaves_the_first_alone(served: Any, flowd: Any) -> None:
    second = flowd("serve", "--port", str(served.port))
    assert second.returncode == 1
    assert f"port {served.port} on 127.0.0.1 is in use" in second.stderr
    assert served.process.poll() is None
