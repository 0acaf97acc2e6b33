"""``flowd retry``."""

import argparse
from typing import Any

from flowd.actions.daemon_client import ask, control_socket
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "retry",
        help="try again what a sink put aside",
        description="Deliver again what sinks have put aside or are waiting to retry.",
    )
    parser.add_argument("sink", nargs="?", help="only this sink (default: all)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Ask the daemon to try again."""
    names = ask(control_socket(resolve_paths()), "retry", sink=arguments.sink)
    print(f"trying again: {', '.join(names)}")
    return 0
