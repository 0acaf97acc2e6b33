"""``flow handoff log``, ``ack``, ``migrate`` and ``flow escalate``: verbs for the handoffs that exist."""

import argparse
import os
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.actions.handoff.escalation import acknowledge, escalate
from flowd.actions.handoff.project import ProjectHandoffs, migrate, open_project, plan_migration
from flowd.cli.output import print_json, table, visible
from flowd.cli.parser import add_verb
from flowd.handoff.markdown.directory import Move
from flowd.handoff.markdown.index import ParsedHandoff, refresh_index, trigger_of
from flowd.system.times import local_minute


class LoggedHandoff(msgspec.Struct, frozen=True):
    """One row of the list."""

    at: float
    trigger: str
    purpose: str
    path: str
    session_id: str
    escalations: list[str]
    may_belong_to: list[str]


def add_log(subparsers: Any) -> None:
    """Add ``flow handoff log``."""
    add_verb(
        subparsers,
        "log",
        "list this project's handoffs",
        "List this project's handoffs, newest first, and bring its index file up to date.",
        run_log,
        examples="  flow handoff log\n  flow handoff log --json\n",
        json="print the list as JSON",
    )


def run_log(arguments: argparse.Namespace) -> int:
    """Print the list."""
    with Context() as context:
        handoffs = open_project(context)
        rows = [_row(handoffs, parsed) for parsed in handoffs.documents]
        index = refresh_index(handoffs.directory, context.redact) if rows else ""
    if arguments.json:
        print_json({"index": index, "handoffs": rows})
    elif rows:
        print("\n".join(_log_page(rows, index)))
    else:
        print(f"no handoff for {handoffs.root} yet: write one with `flow handoff create`")
    return 0


def _row(handoffs: ProjectHandoffs, parsed: ParsedHandoff) -> LoggedHandoff:
    document, path = parsed.document, parsed.file.path
    return LoggedHandoff(
        at=parsed.file.modified_at,
        trigger=trigger_of(document),
        purpose=document.purpose,
        path=path,
        session_id=document.session_id,
        escalations=[found.reason for found in handoffs.escalations if found.path == path],
        may_belong_to=handoffs.ownership.rivals(handoffs.root, path, document),
    )


def _log_page(rows: list[LoggedHandoff], index: str) -> list[str]:
    cells = [("TIME", "TRIGGER", "PURPOSE", "FILE")]
    for row in rows:
        time = local_minute(row.at)
        cells.append((time, row.trigger, row.purpose, os.path.basename(row.path)))
    lines = table(cells, shrink={2: 12, 3: 12})
    for row in rows:
        name = os.path.basename(row.path)
        lines += [f"! {name} needs a person: {reason}" for reason in row.escalations]
        if row.may_belong_to:
            lines.append(f"? {name} names no project; it may belong to {', '.join(row.may_belong_to)}")
    return [*lines, f"index: {index}"]


def add_ack(subparsers: Any) -> None:
    """Add ``flow handoff ack``."""
    parser = add_verb(
        subparsers,
        "ack",
        "acknowledge escalations",
        "Record that you have seen the escalations in this project's handoffs; the files stay as they are.",
        run_ack,
        examples="  flow handoff ack                       all of this project\n"
        "  flow handoff ack 2026-03-01_login.md   those of one handoff\n",
        json="print the acknowledged escalations as JSON",
    )
    parser.add_argument(
        "which", nargs="?", metavar="FILE", help="only those of this file (default: all here)"
    )
    parser.add_argument("--all", action="store_true", help="of every project")


def run_ack(arguments: argparse.Namespace) -> int:
    """Acknowledge the escalations, and print them."""
    with Context() as context:
        seen = acknowledge(open_project(context), arguments.which, every_project=arguments.all)
    if arguments.json:
        print_json({"acknowledged": [found._asdict() for found in seen]})
    else:
        lines = [f"acknowledged: {found.reason} ({found.path})" for found in seen]
        print("\n".join(map(visible, lines)) or "no open escalations")
    return 0


def add_escalate(subparsers: Any) -> None:
    """Add ``flow escalate``."""
    parser = add_verb(
        subparsers,
        "escalate",
        "ask for a person's review",
        "Append an escalation to this project's newest handoff.",
        run_escalate,
        examples='  flow escalate "The migration drops a column: is that wanted?"\n',
    )
    parser.add_argument("reason", metavar="REASON", help="what a person should review")


def run_escalate(arguments: argparse.Namespace) -> int:
    """Append the escalation, and print where."""
    with Context() as context:
        path = escalate(open_project(context), arguments.reason)
    print(f"Escalation added to {path}. Run `flow handoff ack` after someone has reviewed it.")
    return 0


def add_migrate(subparsers: Any) -> None:
    """Add ``flow handoff migrate``."""
    parser = add_verb(
        subparsers,
        "migrate",
        "rename directories of the first contract version",
        "Print which handoff directories have names of the first contract version; rename them with --apply.",
        run_migrate,
        examples="  flow handoff migrate            what would be renamed\n"
        "  flow handoff migrate --apply    rename it\n",
        json="print the moves as JSON",
    )
    parser.add_argument("--apply", action="store_true", help="rename them (default: only print the plan)")


def run_migrate(arguments: argparse.Namespace) -> int:
    """Print the plan, or carry it out."""
    with Context() as context:
        moves = plan_migration(context)
        if arguments.apply:
            migrate(context, moves)
    if arguments.json:
        print_json({"applied": arguments.apply, "moves": [move._asdict() for move in moves]})
    else:
        print("\n".join(_migration_page(moves, is_done=arguments.apply)))
    return 0


def _migration_page(moves: list[Move], *, is_done: bool) -> list[str]:
    if not moves:
        return ["nothing to migrate: every handoff directory has its current name"]
    verb = "moved" if is_done else "would move"
    lines = [
        f"{verb} {os.path.basename(move.source)} -> {os.path.basename(move.target)} "
        f"({move.entries} file{'s' if move.entries != 1 else ''}{', merged' if move.merges else ''})"
        for move in moves
    ]
    return lines if is_done else [*lines, "to do it, run `flow handoff migrate --apply`"]
