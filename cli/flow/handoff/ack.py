"""``flow handoff ack``: a person has seen what handoffs ask one for."""

import argparse
import os
from typing import Any

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.project_handoffs import ProjectHandoffs, open_project
from flowd.cli.output import print_json, visible
from flowd.store.documents import Escalation, acknowledging_facts, open_escalations
from flowd.system.errors import FlowdError


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "ack",
        help="say that you have seen an escalation",
        description="Acknowledge what this project's handoffs ask a person for; the files stay as they are.",
    )
    parser.add_argument(
        "which", nargs="?", metavar="FILE", help="only those of this file (default: all here)"
    )
    parser.add_argument("--all", action="store_true", help="of every project")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Acknowledge, and say what."""
    here = open_project()
    seen = _meant(here, arguments.which, every_project=arguments.all)
    if seen:
        here.journal.append(*acknowledging_facts(here.journal, seen))
        poke_daemon()
    if arguments.json:
        print_json({"acknowledged": [found._asdict() for found in seen]})
    else:
        lines = [f"acknowledged: {found.reason} ({found.path})" for found in seen]
        print("\n".join(map(visible, lines)) or "nothing here asks for a person")
    return 0


def _meant(here: ProjectHandoffs, which: str | None, *, every_project: bool) -> list[Escalation]:
    waiting = open_escalations(here.journal) if every_project else here.escalations
    if which is None:
        return waiting
    name = os.path.basename(which)
    found = [escalation for escalation in waiting if os.path.basename(escalation.path).startswith(name)]
    if not found:
        raise FlowdError(
            f"no handoff named {which!r} asks for a person", hint="`flow handoff log` shows which do"
        )
    return found
