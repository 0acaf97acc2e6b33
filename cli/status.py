"""``flowd status``: how the daemon is, in 80 columns or as JSON."""

import argparse
import sys
import time
from typing import Any

import msgspec

from flowd import __version__
from flowd.cli.funnel import EXIT_COULD_NOT, EXIT_NOT_RUNNING
from flowd.cli.status_page import page
from flowd.config.errors import NotRunningError
from flowd.config.paths import resolve_paths
from flowd.daemon.control_client import ask
from flowd.daemon.lock import control_socket, running_holder

EXAMPLES = """\
examples:
  flowd status                  a page for people
  flowd status --watch          the same, refreshed every two seconds
  flowd status --json | jq .sinks

exit code: 0 healthy, 1 degraded (the page says why), 3 not running
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "status",
        help="how it is",
        description="Ask the running daemon how it is.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="the whole answer as JSON")
    parser.add_argument("--schema", action="store_true", help="the JSON schema of --json, and nothing else")
    parser.add_argument("--watch", action="store_true", help="refresh until Ctrl-C")
    parser.add_argument("--interval", type=float, default=2.0, metavar="S", help="seconds between refreshes")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the status once, or again and again."""
    if arguments.schema:
        from flowd.cli.status_schema import schema

        print(schema())
        return 0
    while True:
        status = _ask()
        _print(status, as_json=arguments.json, clear=arguments.watch)
        if not arguments.watch:
            return _exit_code(status)
        time.sleep(max(0.1, arguments.interval))


def _ask() -> dict[str, Any]:
    paths = resolve_paths()
    try:
        status: dict[str, Any] = ask(control_socket(paths), "status")
    except NotRunningError as error:
        holder = running_holder(paths.lock)
        what = f"{error} (pid {holder.pid} holds the lock)" if holder else str(error)
        return {"running": False, "error": what, "hint": error.hint}
    return status | {"cli_version": __version__}


def _exit_code(status: dict[str, Any]) -> int:
    if not status["running"]:
        return EXIT_NOT_RUNNING
    return 0 if status["healthy"] else EXIT_COULD_NOT


def _print(status: dict[str, Any], *, as_json: bool, clear: bool) -> None:
    if clear and sys.stdout.isatty():
        sys.stdout.write("\x1b[H\x1b[2J")
    if as_json:
        print(msgspec.json.format(msgspec.json.encode(status)).decode())
    elif status["running"]:
        print("\n".join(page(status)))
    else:
        print(f"flowd: {status['error']}\n  {status['hint']}", file=sys.stderr)
    sys.stdout.flush()
