"""``flow handoff ack``: record that a person has seen the escalations of handoffs."""

import argparse
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.escalation import acknowledge
from flowd.actions.handoff.project import open_project
from flowd.cli.output import print_json, visible
from flowd.cli.verb import add_verb


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff ack``."""
    parser = add_verb(
        subparsers,
        "ack",
        "acknowledge escalations",
        "Record that you have seen the escalations in this project's handoffs; the files stay as they are.",
        run,
        json="print the acknowledged escalations as JSON",
    )
    parser.add_argument(
        "which", nargs="?", metavar="FILE", help="only those of this file (default: all here)"
    )
    parser.add_argument("--all", action="store_true", help="of every project")


def run(arguments: argparse.Namespace) -> int:
    """Acknowledge the escalations, and print them."""
    with Context() as context:
        seen = acknowledge(open_project(context), arguments.which, every_project=arguments.all)
    if arguments.json:
        print_json({"acknowledged": [found._asdict() for found in seen]})
    else:
        lines = [f"acknowledged: {found.reason} ({found.path})" for found in seen]
        print("\n".join(map(visible, lines)) or "no open escalations")
    return 0
