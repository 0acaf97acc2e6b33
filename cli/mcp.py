"""``flowd mcp``: the handoff threads as an MCP server on standard input and output."""

import argparse

from flowd.cli.mcp_extra import need_mcp
from flowd.cli.thread_store import open_threads

DESCRIPTION = """\
Serve the handoff threads over MCP on standard input and output. A client starts this; you need not.

  claude mcp add --scope user flowd -- flowd mcp     (or: flowd install --mcp)
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb ``mcp``."""
    parser = subparsers.add_parser(
        "mcp",
        help="serve handoff threads over MCP (stdio)",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    need_mcp()
    from flowd.bridge.logs import log_to
    from flowd.bridge.stdio import run_stdio

    log_to(level="warning")
    with open_threads() as threads:
        run_stdio(threads)
    return 0
