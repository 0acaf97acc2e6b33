"""The HTTP server under many clients: no state to run out of, no place taken by silence."""

import json
import socket
from contextlib import ExitStack
from typing import Any

from flowd.bridge.http import MAX_CONNECTIONS, MAX_SILENT
from tests.support.http_request import INITIALIZE, ask


def test_a_thousand_clients_that_never_say_goodbye_leave_a_place_for_the_next(served: Any) -> None:
    body = json.dumps(INITIALIZE).encode()
    assert {ask(served, body)[0] for _ in range(1100)} <= {200, 429}
    assert ask(served, path="/healthz")[0] in (200, 429)


def test_connections_that_send_nothing_do_not_keep_the_owner_out(served: Any) -> None:
    with ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS + MAX_SILENT):
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port)))
        assert ask(served, json.dumps(INITIALIZE).encode())[0] == 200


def test_a_request_without_a_session_of_an_earlier_server_is_answered(served: Any) -> None:
    """After a restart clients of the handshake era go on with the session id they were given."""
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}).encode()
    status, answer = ask(served, body, Mcp_Session_Id="0123456789abcdef", Mcp_Protocol_Version="2025-06-18")
    assert status == 200
    assert "get_handoff" in answer
