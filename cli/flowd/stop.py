"""``flowd stop``: stop the daemon."""

import argparse
from typing import Any

from flowd.cli.flowd.service import stop
from flowd.cli.verb import add_verb
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Add ``flowd stop``."""
    about = "Stop flowd: it stores what it has read and finishes its deliveries; killed after 6 s."
    add_verb(subparsers, "stop", "stop the daemon", about, run)


def run(_: argparse.Namespace) -> int:
    """Stop flowd, and print how it ended."""
    print(f"flowd {stop(resolve_paths()).value}")
    return 0
