"""``flow handoff migrate``: directories of the contract's first version get their names of today."""

import argparse
import os
from typing import Any

from flowd.actions.context import open_store, settings_in_force
from flowd.actions.daemon_client import poke_daemon
from flowd.cli.output import print_json
from flowd.handoff.markdown.directory import handoffs_dir
from flowd.handoff.markdown.index import refresh_index
from flowd.handoff.markdown.migrate import Move, migrate_directory, planned_moves
from flowd.store.documents import moved_fact
from flowd.store.journal import Journal


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "migrate",
        help="rename directories of the first contract version",
        description="Show which handoff directories bear names of the first version; --apply moves them.",
    )
    parser.add_argument("--apply", action="store_true", help="do it (default: only say what would be done)")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show the plan, or carry it out."""
    moves = planned_moves(handoffs_dir(settings_in_force().claude.config_dir))
    if arguments.apply and moves:
        journal = Journal(open_store())
        for move in moves:
            _carry_out(journal, move)
        poke_daemon()
    if arguments.json:
        print_json({"applied": arguments.apply, "moves": [move._asdict() for move in moves]})
    else:
        print("\n".join(_page(moves, is_done=arguments.apply)))
    return 0


def _carry_out(journal: Journal, move: Move) -> None:
    """Move one directory; its old name, which told more of the project, is kept in core.db."""
    before = os.path.basename(move.source)
    facts = [moved_fact(path, before) for path in migrate_directory(move)]
    if facts:
        journal.append(*facts)
    refresh_index(move.target)


def _page(moves: list[Move], *, is_done: bool) -> list[str]:
    if not moves:
        return ["nothing to migrate: every handoff directory has its name of today"]
    did = "moved" if is_done else "would move"
    lines = [
        f"{did} {os.path.basename(move.source)} -> {os.path.basename(move.target)} "
        f"({move.entries} file{'s' if move.entries != 1 else ''}{', merged' if move.merges else ''})"
        for move in moves
    ]
    return lines if is_done else [*lines, "do it with `flow handoff migrate --apply`"]
