"""``flowd mcp`` and ``flowd serve``: serve the threads over MCP, by stdio or HTTP."""

import argparse
import signal
import sys
from importlib.util import find_spec
from typing import Any

from flowd.actions.context import Context
from flowd.cli.parser import add_verb
from flowd.daemon.child import follow_parent
from flowd.store.threads.threads import Threads
from flowd.system.errors import FlowdError


def need_mcp() -> None:
    """Raise FlowdError if the MCP SDK is not installed."""
    if find_spec("mcp") is None:
        from flowd.cli.installation import install_command, this_installation

        raise FlowdError(
            "the MCP server needs the extra `mcp`, which is not installed",
            hint=f"install it: {install_command(this_installation())}",
        )


MCP = """\
Serve the threads over MCP on standard input and output. MCP clients start this command themselves.
"""


def add_mcp(subparsers: Any) -> None:
    """Add ``flowd mcp``."""
    examples = "  flowd install --mcp                                      register it\n"
    examples += "  claude mcp add --scope user flowd -- flowd mcp           the same by hand\n"
    add_verb(subparsers, "mcp", "serve threads over MCP (stdio)", MCP, run_mcp, examples=examples)


def run_mcp(_: argparse.Namespace) -> int:
    """Serve until the client closes standard input."""
    need_mcp()
    from flowd.actions.context import Context
    from flowd.bridge.server import log_to
    from flowd.bridge.stdio import run_stdio
    from flowd.store.threads.threads import Threads

    log_to(level="warning")
    with Context() as context:
        run_stdio(Threads(context.database, context.redact.redactor))
    return 0


MAX_PORT = 65_535
SERVE = """\
Serve the threads over MCP (streamable HTTP) at http://HOST:PORT/mcp. Clients need the bearer token.
"""
SERVE_EXAMPLES = """\
  flowd serve
  flowd serve --show-token
  claude mcp add --transport http flowd http://127.0.0.1:8768/mcp \\
    --header "Authorization: Bearer $(flowd serve --show-token)"

flowd serve speaks plain HTTP and listens on this machine only. To reach it from elsewhere, put a reverse
proxy with TLS in front of it that passes on the Host header, and allow the proxy's host name:
  flowd serve --allow-host threads.example.org
/healthz answers without a token, with nothing but whether the server works.
"""


def add_serve(subparsers: Any) -> None:
    """Add ``flowd serve``."""
    parser = add_verb(
        subparsers, "serve", "serve threads over MCP (HTTP)", SERVE, run_serve, examples=SERVE_EXAMPLES
    )
    parser.add_argument("--host", help="address to listen on (default: serve.host, 127.0.0.1)")
    parser.add_argument("--port", type=_port, help="port to listen on (default: serve.port, 8768)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="another host name of this server"
    )
    parser.add_argument("--show-token", action="store_true", help="print the bearer token and exit")


def _port(text: str) -> int:
    """Return *text* as a port; 0 lets the system choose one."""
    if not text.isdecimal() or int(text) > MAX_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: give a number from 1 to {MAX_PORT}")
    return int(text)


def run_serve(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes, or print the token."""
    need_mcp()
    from flowd.bridge.token import load_token

    with Context() as context:
        token = load_token(context.paths.state_dir)
        if arguments.show_token:
            print(token)
        else:
            _serve_http(context, arguments, token)
    return 0


def _serve_http(context: Context, arguments: argparse.Namespace, token: str) -> None:
    # SIGTERM is a normal end, also before the server has installed its own handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    follow_parent()
    from flowd.bridge.http import HttpOptions, run_http
    from flowd.bridge.server import log_to

    settings = context.settings
    log_to(level=settings.log.level)
    options = HttpOptions(
        host=arguments.host or settings.serve.host,
        port=settings.serve.port if arguments.port is None else arguments.port,
        token=token,
        allowed_hosts=(*settings.serve.allowed_hosts, *arguments.allow_host),
        requests_per_minute=settings.serve.requests_per_minute,
    )
    run_http(Threads(context.database, context.redact.redactor), options)
