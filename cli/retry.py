"""``flowd retry``."""

import argparse
from typing import Any

from flowd.config.paths import resolve_paths
from flowd.daemon.control_client import ask
from flowd.daemon.lock import control_socket


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
