"""``flow handoff log``: list the project's handoffs, newest first."""

import argparse
import os
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.actions.handoff.project import ProjectHandoffs, open_project
from flowd.cli.output import print_json, table
from flowd.cli.verb import add_verb
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


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff log``."""
    add_verb(
        subparsers,
        "log",
        "list this project's handoffs",
        "List this project's handoffs, newest first, and bring its index file up to date.",
        run,
        json="print the list as JSON",
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    with Context() as context:
        handoffs = open_project(context)
        rows = [_row(handoffs, parsed) for parsed in handoffs.documents]
        index = refresh_index(handoffs.directory, context.redact) if rows else ""
    if arguments.json:
        print_json({"index": index, "handoffs": rows})
    elif rows:
        print("\n".join(_page(rows, index)))
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


def _page(rows: list[LoggedHandoff], index: str) -> list[str]:
    cells = [("TIME", "TRIGGER", "PURPOSE", "FILE")]
    for row in rows:
        time = local_minute(row.at)
        cells.append((time, row.trigger, row.purpose, os.path.basename(row.path)))
    lines = table(cells, shrink=2)
    for row in rows:
        name = os.path.basename(row.path)
        lines += [f"! {name} needs a person: {reason}" for reason in row.escalations]
        if row.may_belong_to:
            lines.append(f"? {name} names no project; it may belong to {', '.join(row.may_belong_to)}")
    return [*lines, f"index: {index}"]
