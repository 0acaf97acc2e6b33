"""Describe the verbs of ``flow`` and ``flowd`` to argparse."""

import argparse
from collections.abc import Callable
from typing import Any

Run = Callable[[argparse.Namespace], int]


def add_verb(
    subparsers: Any,
    name: str,
    help: str,  # noqa: A002 argparse's own word
    description: str,
    run: Run | None = None,
    *,
    examples: str = "",
    json: str = "",
) -> argparse.ArgumentParser:
    """Add the verb *name*, executed by *run*; *json* is the help of its ``--json``, if it has one."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=help,
        description=description,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if json:
        parser.add_argument("--json", action="store_true", help=json)
    if run is not None:
        parser.set_defaults(run=run)
    return parser
