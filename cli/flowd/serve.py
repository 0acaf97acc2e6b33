"""``flowd serve``: the handoff threads as an MCP server over HTTP."""

import argparse
import signal
import sys

from flowd.cli.flow.thread import open_threads
from flowd.cli.flowd.mcp import need_mcp
from flowd.config.paths import Paths, resolve_paths
from flowd.config.settings import load_settings
from flowd.daemon.child import follow_parent

DESCRIPTION = """\
Serve the handoff threads over MCP (streamable HTTP) at http://HOST:PORT/mcp, for holders of the token.
"""
EPILOG = """\
examples:
  flowd serve
  flowd serve --show-token
  claude mcp add --transport http flowd http://127.0.0.1:8768/mcp \\
    --header "Authorization: Bearer $(flowd serve --show-token)"

flowd serve speaks plain HTTP and listens on this machine only. To reach it from elsewhere, put a reverse
proxy that does TLS in front of it, let that proxy pass the Host header on, and name the proxy's host:
  flowd serve --allow-host threads.example.org
/healthz answers without a token, and tells nothing but whether the server can work.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb ``serve``."""
    parser = subparsers.add_parser(
        "serve",
        help="serve handoff threads over MCP (HTTP)",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", help="address to listen on (default: serve.host, 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (default: serve.port, 8768)")
    parser.add_argument(
        "--allow-host", action="append", default=[], metavar="NAME", help="a further name of this server"
    )
    parser.add_argument("--show-token", action="store_true", help="print the bearer token and exit")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Serve until told to stop, or print the token."""
    need_mcp()
    from flowd.bridge.token import load_token

    paths = resolve_paths()
    token = load_token(paths.state_dir)
    if arguments.show_token:
        print(token)
    else:
        _serve(arguments, token, paths)
    return 0


def _serve(arguments: argparse.Namespace, token: str, paths: Paths) -> None:
    # Until the server listens for it, SIGTERM would be a death by signal; it is a normal end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    follow_parent()
    from flowd.bridge.http import HttpOptions, run_http
    from flowd.bridge.logs import log_to

    settings = load_settings(paths.config_file).settings
    log_to(level=settings.log.level)
    options = HttpOptions(
        host=arguments.host or settings.serve.host,
        port=settings.serve.port if arguments.port is None else arguments.port,
        token=token,
        allowed_hosts=(*settings.serve.allowed_hosts, *arguments.allow_host),
        requests_per_minute=settings.serve.requests_per_minute,
    )
    with open_threads() as threads:
        run_http(threads, options)
