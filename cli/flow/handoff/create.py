"""``flow handoff create``: write a handoff of this session for the next one."""

import argparse
import sys
from typing import Any, get_args

from flowd.actions.context import Context
from flowd.actions.handoff.create import HandoffRequest, create_handoff
from flowd.actions.handoff.project import ProjectHandoffs, open_project
from flowd.cli.flow.handoff.track import created_lines, question_about_workers
from flowd.cli.output import print_json, visible
from flowd.cli.parser import add_verb
from flowd.model.facts import Trigger

# Option, field of the request, help.
SECTIONS = (
    ("done", "done", "something that was accomplished"),
    ("next", "next", "something to do next"),
    ("gotcha", "gotchas", "a surprise or a trap"),
    ("risk", "risks", "an unresolved concern"),
    ("reflection", "reflection", "something learned"),
)
EXAMPLES = """\
  flow handoff create
  flow handoff create --purpose "Login: tokens done" --next "Write the cookie tests"
  flow handoff create --trigger epic-end --json
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff create``."""
    parser = add_verb(
        subparsers,
        "create",
        "write a handoff for the next session",
        "Write a handoff from the session's state, your words, and what the last one left open.",
        run,
        examples=EXAMPLES,
        json="print path, purpose and open items as JSON",
    )
    parser.add_argument("--trigger", choices=get_args(Trigger), default="manual", help="why (default manual)")
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what it is about, in one line")
    for option, field, about in SECTIONS:
        parser.add_argument(
            f"--{option}",
            dest=field,
            action="append",
            default=[],
            metavar="TEXT",
            help=f"{about}; repeatable",
        )
    parser.add_argument(
        "--track", default="", help="the conductor's track (default: the one being worked on)"
    )
    parser.add_argument("--epic", default="", help="the epic that begins or ends, such as E1")


def run(arguments: argparse.Namespace) -> int:
    """Write the handoff, and print its path."""
    sections = {field: tuple(getattr(arguments, field)) for _, field, _ in SECTIONS}
    request = HandoffRequest(
        arguments.trigger, arguments.track, arguments.epic, arguments.purpose, **sections
    )
    with Context() as context:
        return create_and_print(open_project(context), request, as_json=arguments.json)


def create_and_print(handoffs: ProjectHandoffs, request: HandoffRequest, *, as_json: bool) -> int:
    """Create the handoff and print where; warn of escalations, which are no longer in the newest one then."""
    for found in handoffs.escalations:
        print(f"flow: {found.path} has an open escalation: {found.reason}", file=sys.stderr)
    result = create_handoff(handoffs, request, question_about_workers())
    lines = created_lines(result.track) if result.track else []
    if not result.path:
        print("\n".join(lines), file=sys.stderr)
        return 1
    if as_json:
        print_json(result)
    else:
        print("\n".join(map(visible, [f"handoff written to {result.path}", *lines])))
    return 0
