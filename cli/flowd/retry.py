"""``flowd retry``: retry quarantined and waiting deliveries now."""

import argparse
from typing import Any

from flowd.actions.daemon_client import ask, control_socket
from flowd.cli.verb import add_verb
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Add ``flowd retry``."""
    parser = add_verb(
        subparsers,
        "retry",
        "retry failed deliveries now",
        "Retry the deliveries that sinks have quarantined or are waiting to retry.",
        run,
    )
    parser.add_argument("sink", nargs="?", help="only this sink (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Have the daemon retry, and print the sinks."""
    names = ask(control_socket(resolve_paths()), "retry", sink=arguments.sink)
    print(f"retrying: {', '.join(names)}")
    return 0
