"""The MCP server behind both transports: five tools for the threads in core.db; its log."""

import asyncio
import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO, TypeVar

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from flowd import __version__
from flowd.bridge.requests import Request, Result, parse
from flowd.bridge.tools import INSTRUCTIONS, TOOLS
from flowd.store.threads.threads import Threads
from flowd.system.errors import FlowdError

NOTE_FOR_CODE = (
    'as_client was left out, so this call counted as "chat". You seem to be Claude Code: '
    'pass as_client: "code" on every handoff call.'
)
# Each worker has its own connection; core.db allows one writer at a time anyway.
WORKERS = 4

log = logging.getLogger("flowd.bridge")

Answer = TypeVar("Answer")
Context = ServerRequestContext[Any, Any]


class ThreadServer:
    """Answers tool calls from core.db, off the event loop. Use as a context manager."""

    def __init__(self, threads: Threads, *, started_by_code: bool = False) -> None:
        """Serve *threads*; *started_by_code* is True in a process that Claude Code started."""
        self.threads = threads
        self._started_by_code = started_by_code
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="flowd-bridge")
        self.protocol: Server[Any] = Server(
            "flowd",
            version=__version__,
            title="flowd handoffs",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def __enter__(self) -> "ThreadServer":
        return self

    def __exit__(self, *_: object) -> None:
        self._workers.shutdown(wait=True, cancel_futures=True)

    async def run(self, work: Callable[[Threads], Answer]) -> Answer:
        """Run *work* on the threads, off the event loop, and return its result."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._workers, work, self.threads)

    async def _list_tools(self, _: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[each.tool for each in TOOLS.values()])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        known = TOOLS.get(params.name)
        if known is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:100]}")
        try:
            request = parse(known.takes, params.arguments or {})
            result = await self.run(request.carry_out)
        except FlowdError as error:
            return _refused(params.name, error)
        log.info("tool=%s outcome=ok", params.name)
        return _answered(result, self._note(context, request))

    def _note(self, context: Context, request: Request) -> str:
        given = getattr(request, "as_client", "not a parameter of this tool")
        seems_code = self._started_by_code or _named_code(context)
        return NOTE_FOR_CODE if given is None and seems_code else ""


def _named_code(context: Context) -> bool:
    client = context.session.client_params
    return client is not None and "claude-code" in client.client_info.name.lower().replace(" ", "-")


def _answered(result: Result, note: str) -> CallToolResult:
    structured = msgspec.to_builtins(result)
    if note:
        structured["note"] = note
    text = msgspec.json.encode(structured).decode()
    return CallToolResult(content=[TextContent(text=text)], structured_content=structured)


def _refused(tool: str, error: FlowdError) -> CallToolResult:
    # Log only the kind of the error: its text may repeat what the client sent.
    log.info("tool=%s outcome=refused error=%s", tool, type(error).__name__)
    text = f"{error} ({error.hint})" if error.hint else str(error)
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


class _ContentFreeFormatter(logging.Formatter):
    """Formats flowd's own events in full, those of libraries only by logger and kind.

    Their messages may quote what a client sent, and their tracebacks its values.
    """

    def format(self, record: logging.LogRecord) -> str:
        head = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}"
        if record.name.startswith("flowd."):
            return f"{head} {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        failure = f" error={kind.__name__}" if kind else ""
        return f"{head} at={record.filename}:{record.lineno}{failure}"


def log_to(stream: TextIO = sys.stderr, level: str = "info") -> None:
    """Log to *stream*, without anything that clients send: flowd's from *level*, others' from warnings."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_ContentFreeFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("flowd").setLevel(level.upper())
