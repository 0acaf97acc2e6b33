"""``flow handoff log``: the project's handoffs, newest first."""

import argparse
import os
from datetime import datetime
from typing import Any

from flowd.actions.project_handoffs import ProjectHandoffs, open_project
from flowd.cli.output import print_json, table
from flowd.handoff.markdown.index import ParsedHandoff, refresh_index, trigger_of


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "log",
        help="list this project's handoffs",
        description="List this project's handoffs, newest first, and bring its index file up to date.",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the list."""
    here = open_project()
    rows = [_row(here, shelved) for shelved in here.shelf]
    index = refresh_index(here.directory) if here.shelf else ""
    if arguments.json:
        print_json({"index": index, "handoffs": rows})
    elif rows:
        print("\n".join(_page(rows, index)))
    else:
        print(f"no handoff for {here.project.root} yet: `flow handoff create` writes one")
    return 0


def _row(here: ProjectHandoffs, shelved: ParsedHandoff) -> dict[str, Any]:
    document = shelved.document
    return {
        "at": shelved.file.modified_at,
        "trigger": trigger_of(document),
        "purpose": document.purpose,
        "path": shelved.file.path,
        "session_id": document.session_id,
        "escalations": [found.reason for found in here.escalations if found.path == shelved.file.path],
        "may_belong_to": here.ownership.rivals(here.project.root, shelved.file.path, document),
    }


def _page(rows: list[dict[str, Any]], index: str) -> list[str]:
    cells = [("TIME", "TRIGGER", "PURPOSE", "FILE")]
    for row in rows:
        time = datetime.fromtimestamp(row["at"]).astimezone().strftime("%Y-%m-%d %H:%M")
        cells.append((time, row["trigger"], row["purpose"], os.path.basename(row["path"])))
    lines = table(cells, shrink=2)
    for row in rows:
        lines += [
            f"! {os.path.basename(row['path'])} asks for a person: {reason}" for reason in row["escalations"]
        ]
        if row["may_belong_to"]:
            others = ", ".join(row["may_belong_to"])
            lines.append(f"? {os.path.basename(row['path'])} does not say whose it is; it may be {others}'s")
    return [*lines, f"index: {index}"]
