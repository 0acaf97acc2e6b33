"""``flowd serve``: serve the threads over MCP and HTTP."""

import argparse
import signal
import sys
from typing import Any

from flowd.actions.context import Context
from flowd.cli.flowd.mcp import need_mcp
from flowd.cli.verb import add_verb
from flowd.daemon.child import follow_parent
from flowd.store.threads.threads import Threads

DESCRIPTION = """\
Serve the threads over MCP (streamable HTTP) at http://HOST:PORT/mcp. Clients need the bearer token.
"""
EXAMPLES = """\
  flowd serve
  flowd serve --show-token
  claude mcp add --transport http flowd http://127.0.0.1:8768/mcp \\
    --header "Authorization: Bearer $(flowd serve --show-token)"

flowd serve speaks plain HTTP and listens on this machine only. To reach it from elsewhere, put a reverse
proxy with TLS in front of it that passes on the Host header, and allow the proxy's host name:
  flowd serve --allow-host threads.example.org
/healthz answers without a token, with nothing but whether the server works.
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd serve``."""
    parser = add_verb(
        subparsers, "serve", "serve threads over MCP (HTTP)", DESCRIPTION, run, examples=EXAMPLES
    )
    parser.add_argument("--host", help="address to listen on (default: serve.host, 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: serve.port, 8768)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="another host name of this server"
    )
    parser.add_argument("--show-token", action="store_true", help="print the bearer token and exit")


def run(arguments: argparse.Namespace) -> int:
    """Serve until a signal comes, or print the token."""
    need_mcp()
    from flowd.bridge.token import load_token

    with Context() as context:
        token = load_token(context.paths.state_dir)
        if arguments.show_token:
            print(token)
        else:
            _serve(context, arguments, token)
    return 0


def _serve(context: Context, arguments: argparse.Namespace, token: str) -> None:
    # SIGTERM is a normal end, also before the server has installed its own handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    follow_parent()
    from flowd.bridge.http import HttpOptions, run_http
    from flowd.bridge.logs import log_to

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
