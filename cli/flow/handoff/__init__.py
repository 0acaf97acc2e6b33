"""``flow handoff``: write handoff documents for the next session, resume from the last one."""

import argparse
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.create import HandoffRequest
from flowd.actions.handoff.project import open_project
from flowd.actions.handoff.resume import resume_at_start
from flowd.cli.flow.handoff import create, resume
from flowd.cli.flow.handoff.documents import add_ack, add_log, add_migrate
from flowd.cli.flow.handoff.track import add_begin
from flowd.cli.parser import add_verb

EXAMPLES = """\
  flow handoff             at the start of a session resume from a recent handoff, else create one
  flow handoff create --purpose "Login: tokens done"
  flow handoff resume
  flow handoff log
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff`` and its verbs."""
    parser = add_verb(
        subparsers,
        "handoff",
        "hand over to the next session, or resume from the last",
        "Create a handoff, or resume from the last one; without a verb flowd chooses.",
        run,
        examples=EXAMPLES,
        json="print the result as JSON",
    )
    verbs = parser.add_subparsers(metavar="VERB")
    for add in (create.add_parser, resume.add_parser, add_begin, add_log, add_migrate, add_ack):
        add(verbs)


def run(arguments: argparse.Namespace) -> int:
    """Resume at the start of a session if there is a recent handoff, else create one."""
    with Context() as context:
        handoffs = open_project(context)
        resumed = resume_at_start(handoffs)
        if resumed is not None:
            resume.print_resumed(resumed, as_json=arguments.json)
            return 0
        return create.create_and_print(handoffs, HandoffRequest(), as_json=arguments.json)
