"""The MCP server over standard input and output, for a client that starts it as a child process."""

import logging
import os
from collections.abc import AsyncIterable
from typing import Protocol

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from flowd.bridge.server import ThreadServer
from flowd.store.threads.threads import Threads

# Claude Code sets this for its child processes.
CODE_VARIABLE = "CLAUDECODE"

log = logging.getLogger("flowd.bridge")

Item = SessionMessage | Exception


class MessageStream(Protocol):
    """The stream of messages to the client."""

    async def send(self, item: SessionMessage, /) -> None: ...


def run_stdio(threads: Threads) -> None:
    """Serve until the client closes standard input."""
    with ThreadServer(threads, started_by_code=CODE_VARIABLE in os.environ) as server:
        anyio.run(_serve, server)


async def _serve(server: ThreadServer) -> None:
    protocol = server.protocol
    good_in, good_out = anyio.create_memory_object_stream[Item](0)
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(_sift, incoming, good_in, outgoing)
        await protocol.run(good_out, outgoing, protocol.create_initialization_options())
        group.cancel_scope.cancel()


async def _sift(
    incoming: AsyncIterable[Item],
    good: MemoryObjectSendStream[Item],
    answers: MessageStream,
) -> None:
    """Pass on valid messages and answer invalid ones, which the SDK would ignore."""
    async with good:
        async for item in incoming:
            if isinstance(item, Exception):
                await answers.send(SessionMessage(_not_a_message(item)))
            else:
                await good.send(item)


def _not_a_message(error: Exception) -> JSONRPCError:
    log.warning("malformed message refused")
    if isinstance(error, ValidationError) and error.errors()[0]["type"] != "json_invalid":
        wrong = ErrorData(code=INVALID_REQUEST, message="Invalid request: not a JSON-RPC 2.0 message")
    else:
        wrong = ErrorData(code=PARSE_ERROR, message="Parse error: the line is not JSON")
    return JSONRPCError(jsonrpc="2.0", id=None, error=wrong)
