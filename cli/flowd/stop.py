"""``flowd stop``."""

import argparse
from typing import Any

from flowd.cli.flowd.service import stop
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "stop",
        help="stop it",
        description="Stop flowd: it stores what it has read and finishes what is due; killed after 6 s.",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Stop flowd and say how it ended."""
    print(f"flowd {stop(resolve_paths()).value}")
    return 0
