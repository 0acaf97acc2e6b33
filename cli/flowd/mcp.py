"""``flowd mcp``: serve the threads over MCP on standard input and output."""

import argparse
from importlib.util import find_spec
from typing import Any

from flowd.cli.verb import add_verb
from flowd.system.errors import FlowdError


def need_mcp() -> None:
    """Raise FlowdError if the MCP SDK is not installed."""
    if find_spec("mcp") is None:
        raise FlowdError(
            "the MCP server needs the extra `mcp`, which is not installed",
            hint="pipx install --force 'flowd[mcp]'   (or: pip install 'flowd[mcp]')",
        )


DESCRIPTION = """\
Serve the threads over MCP on standard input and output. MCP clients start this command themselves.

  claude mcp add --scope user flowd -- flowd mcp     (or: flowd install --mcp)
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd mcp``."""
    add_verb(subparsers, "mcp", "serve threads over MCP (stdio)", DESCRIPTION, run)


def run(_: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    need_mcp()
    from flowd.actions.context import Context
    from flowd.bridge.logs import log_to
    from flowd.bridge.stdio import run_stdio
    from flowd.store.threads.threads import Threads

    log_to(level="warning")
    with Context() as context:
        run_stdio(Threads(context.database, context.redact.redactor))
    return 0
