"""``flow escalate``: ask for a person's review through the project's newest handoff."""

import argparse
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.escalation import escalate
from flowd.actions.handoff.project import open_project
from flowd.cli.verb import add_verb


def add_parser(subparsers: Any) -> None:
    """Add ``flow escalate``."""
    parser = add_verb(
        subparsers,
        "escalate",
        "ask for a person's review",
        "Append an escalation to this project's newest handoff.",
        run,
    )
    parser.add_argument("reason", metavar="REASON", help="what a person should review")


def run(arguments: argparse.Namespace) -> int:
    """Append the escalation, and print where."""
    with Context() as context:
        path = escalate(open_project(context), arguments.reason)
    print(f"Escalation added to {path}. Run `flow handoff ack` after someone has reviewed it.")
    return 0
