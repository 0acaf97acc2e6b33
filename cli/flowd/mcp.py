"""``flowd mcp``: the handoff threads as an MCP server on standard input and output."""

import argparse
from importlib.util import find_spec

from flowd.cli.flow.thread import open_threads
from flowd.system.errors import FlowdError


def need_mcp() -> None:
    """Raise with the command to type, if the MCP SDK is not installed."""
    if find_spec("mcp") is None:
        raise FlowdError(
            "the MCP server needs an extra that is not installed",
            hint="pipx install --force 'flowd[mcp]'   (or: pip install 'flowd[mcp]')",
        )


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
