"""``flowd start``."""

import argparse
from typing import Any

from flowd.cli.service import Started, start
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "start", help="start in the background", description="Start flowd and wait until it answers."
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Start flowd, or say that it runs already."""
    result = start(resolve_paths())
    word = "started" if result.how is Started.NOW else "is already running"
    print(f"flowd {word} (pid {result.pid})")
    return 0
