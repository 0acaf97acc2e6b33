"""What the HTTP server refuses: each with a clear error, nothing stored, nothing leaked into the log."""

import json
import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import pytest

from flowd.store.threads.threads import Threads
from tests.support.http_request import INITIALIZE, ask

PRIVATE = "PRIVATE-WORDS"


def initialize(served: Any, **headers: str | None) -> tuple[int, str]:
    return ask(served, json.dumps(INITIALIZE).encode(), path="/mcp", **headers)


def call(served: Any, tool: str, arguments: Any) -> tuple[int, str]:
    """Call a tool in the protocol's stateless form, with the body as it is given."""
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
    return ask(
        served,
        json.dumps(message).encode(),
        MCP_Protocol_Version="2026-07-28",
        Mcp_Method="tools/call",
        Mcp_Name=tool,
    )


def stored(threads: Threads) -> int:
    with threads.database.reading() as connection:
        return int(connection.execute("select count(*) from handoffs").fetchone()[0])


def test_a_right_request_passes(served: Any, threads: Threads) -> None:
    assert initialize(served)[0] == 200
    status, answer = call(served, "create_handoff", {"title": "t", "content": "c"})
    assert (status, stored(threads)) == (200, 1), answer


STRANGERS: list[tuple[dict[str, str | None], int, str]] = [
    ({"Authorization": None}, 401, "bearer token is required"),
    ({"Authorization": f"Bearer {PRIVATE}"}, 401, "bearer token is required"),
    ({"Authorization": "Bearer "}, 401, "bearer token is required"),
    ({"Authorization": "Basic dXNlcjpwYXNz"}, 401, "bearer token is required"),
    ({"Host": "evil.example"}, 421, "Host is not a name of this server"),
    ({"Host": f"127.0.0.1.{PRIVATE}.example"}, 421, "Host is not a name of this server"),
    ({"Host": "127.0.0.1@evil.example"}, 421, "Host is not a name of this server"),
    ({"Host": None}, 400, "Invalid HTTP request"),
    ({"Origin": "https://evil.example"}, 403, "Origin is not allowed"),
    ({"Origin": f"http://localhost.{PRIVATE}.example"}, 403, "Origin is not allowed"),
    ({"Origin": "null"}, 403, "Origin is not allowed"),
    ({"Origin": "file://localhost"}, 403, "Origin is not allowed"),
]


def test_a_wrong_token_host_or_origin_is_refused(served: Any, threads: Threads) -> None:
    for headers, status, says in STRANGERS:
        given, answer = initialize(served, **headers)
        assert (given, says in answer) == (status, True), (headers, answer)
    assert stored(threads) == 0
    assert_nothing_leaked(served)


def test_every_name_of_this_machine_is_ours(served: Any) -> None:
    for host in ("localhost", "127.0.0.1:1", "[::1]:8768", "LOCALHOST"):
        assert initialize(served, Host=host)[0] == 200
    for origin in ("http://localhost:6274", "https://127.0.0.1"):
        assert initialize(served, Origin=origin)[0] == 200


def test_a_token_of_another_length_or_case_is_wrong(served: Any) -> None:
    for wrong in (served.token[:-1], served.token + "x", served.token.swapcase()):
        assert initialize(served, Authorization=f"Bearer {wrong}")[0] == 401
    assert initialize(served, Authorization=f"bearer {served.token}")[0] == 200


def test_an_oversized_request_is_refused_before_it_is_read(served: Any, threads: Threads) -> None:
    status, answer = ask(served, b"x" * (8 * 1024 * 1024 + 1))
    assert (status, answer) == (413, "Request body too large")
    assert stored(threads) == 0


def test_an_oversized_entry_is_refused_with_the_limit(served: Any, threads: Threads) -> None:
    status, answer = call(served, "create_handoff", {"title": "t", "content": PRIVATE * 100_000})
    assert status == 200
    assert "content is too large" in answer
    assert stored(threads) == 0
    assert_nothing_leaked(served)


def test_malformed_json_rpc_is_refused(served: Any, threads: Threads) -> None:
    for body in (
        b"{not json " + PRIVATE.encode(),
        b'{"jsonrpc": "1.0", "id": 1, "method": "' + PRIVATE.encode() + b'"}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "initialize"}]',
        b"\xff\xfe" + PRIVATE.encode(),
        b"",
    ):
        status, answer = ask(served, body)
        assert (status, "error" in json.loads(answer)) == (400, True), (body, answer)
    assert stored(threads) == 0
    assert_nothing_leaked(served)


def test_an_unknown_tool_and_a_bad_enum_are_refused(served: Any, threads: Threads) -> None:
    _, unknown = call(served, "list_handoffs", {"query": PRIVATE})
    assert "Unknown tool: list_handoffs" in unknown
    _, bad = call(served, "create_handoff", {"title": "t", "content": PRIVATE, "as_client": PRIVATE})
    assert "as_client must be one of chat, code" in bad
    assert PRIVATE not in bad
    assert stored(threads) == 0
    assert_nothing_leaked(served)


def test_contents_and_token_never_reach_the_log(served: Any) -> None:
    call(served, "create_handoff", {"title": PRIVATE, "content": PRIVATE, "project": PRIVATE})
    call(served, "get_handoff", {"id": PRIVATE})
    assert "tool=create_handoff outcome=ok" in served.log.read_text()
    assert_nothing_leaked(served)


def test_healthz_needs_no_token_but_our_name(served: Any) -> None:
    status, answer = ask(served, path="/healthz", Authorization=None)
    assert (status, json.loads(answer)["status"]) == (200, "ok")
    assert ask(served, path="/healthz", Authorization=None, Host="evil.example")[0] == 421


def test_healthz_says_when_core_db_cannot_serve(served: Any, threads: Threads) -> None:
    threads.database.close()
    for file in threads.database.path.parent.glob("core.db*"):
        file.unlink()
    threads.database.path.write_bytes(b"this is no database, however long one reads on in it" * 50)
    status, answer = ask(served, path="/healthz", Authorization=None)
    assert (status, json.loads(answer)) == (503, {"status": "encrypted or not SQLite"})


def test_other_paths_are_not_there(served: Any) -> None:
    assert ask(served, path="/")[0] == 404
    assert ask(served, path="/", Authorization=None)[0] == 401


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_this_machine_can_neither_read_the_token_nor_call(
    served: Any, home: dict[str, str], tmp_path: Path
) -> None:
    token_file = tmp_path / "state" / "serve.token"
    script = (
        "import sys, http.client\n"
        "try: open(sys.argv[1]).read(); print('read the token')\n"
        "except OSError as error: print(type(error).__name__)\n"
        "c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[2])); c.request('POST', '/mcp', '{}')\n"
        "print(c.getresponse().status)\n"
    )
    for folder in (tmp_path, *tmp_path.parents):
        if folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o111)
    stranger = subprocess.run(
        ["/usr/bin/env", "python3", "-c", script, str(token_file), str(served.port)],
        user=pwd.getpwnam("nobody").pw_uid,
        group=pwd.getpwnam("nobody").pw_gid,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert stranger.stdout.split() == ["PermissionError", "401"], stranger.stderr


def assert_nothing_leaked(served: Any) -> None:
    log = served.log.read_text()
    assert PRIVATE not in log
    assert served.token not in log
    assert "Traceback" not in log
