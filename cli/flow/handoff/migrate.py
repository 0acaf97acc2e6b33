"""``flow handoff migrate``: rename directories that the first version of the contract named."""

import argparse
import os
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.project import migrate, plan_migration
from flowd.cli.output import print_json
from flowd.cli.verb import add_verb
from flowd.handoff.markdown.directory import Move


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff migrate``."""
    parser = add_verb(
        subparsers,
        "migrate",
        "rename directories of the first contract version",
        "Print which handoff directories have names of the first contract version; rename them with --apply.",
        run,
        json="print the moves as JSON",
    )
    parser.add_argument("--apply", action="store_true", help="rename them (default: only print the plan)")


def run(arguments: argparse.Namespace) -> int:
    """Print the plan, or carry it out."""
    with Context() as context:
        moves = plan_migration(context)
        if arguments.apply:
            migrate(context, moves)
    if arguments.json:
        print_json({"applied": arguments.apply, "moves": [move._asdict() for move in moves]})
    else:
        print("\n".join(_page(moves, is_done=arguments.apply)))
    return 0


def _page(moves: list[Move], *, is_done: bool) -> list[str]:
    if not moves:
        return ["nothing to migrate: every handoff directory has its current name"]
    verb = "moved" if is_done else "would move"
    lines = [
        f"{verb} {os.path.basename(move.source)} -> {os.path.basename(move.target)} "
        f"({move.entries} file{'s' if move.entries != 1 else ''}{', merged' if move.merges else ''})"
        for move in moves
    ]
    return lines if is_done else [*lines, "to do it, run `flow handoff migrate --apply`"]
