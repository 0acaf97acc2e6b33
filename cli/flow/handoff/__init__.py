"""``flow handoff``: write what the next session needs, take up what the last one left."""

import argparse
import time
from typing import Any

from flowd.actions.context import current_session
from flowd.actions.project_handoffs import ProjectHandoffs, open_project
from flowd.cli.flow.handoff import ack as handoff_ack
from flowd.cli.flow.handoff import begin as handoff_begin
from flowd.cli.flow.handoff import create as handoff_create
from flowd.cli.flow.handoff import log as handoff_log
from flowd.cli.flow.handoff import migrate as handoff_migrate
from flowd.cli.flow.handoff import resume as handoff_resume
from flowd.model.facts import StateChanged

EXAMPLES = """\
examples:
  flow handoff             resume when a session begins and a recent handoff is there, else create
  flow handoff create --purpose "Login: tokens done"
  flow handoff resume
  flow handoff log
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb and those below it."""
    parser = subparsers.add_parser(
        "handoff",
        help="hand over to the next session, or take up from the last",
        description="Write a handoff, or resume from the last one; without a word flowd chooses.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)
    verbs = parser.add_subparsers(metavar="WORD")
    for module in (handoff_create, handoff_resume, handoff_begin, handoff_log, handoff_migrate, handoff_ack):
        module.add_parser(verbs)


def run(arguments: argparse.Namespace) -> int:
    """Resume at the first message of a session when a recent handoff is there; else create."""
    here = open_project()
    if wants_resume(here):
        return handoff_resume.resume(here, here.shelf[0], None, as_json=arguments.json)
    return handoff_create.create(here, handoff_create.CreateOptions(), as_json=arguments.json)


def wants_resume(here: ProjectHandoffs) -> bool:
    """Say whether this is the first message of a session, with another's handoff of this week at hand."""
    session = current_session()
    if not here.shelf or (session and not _is_first_message(here, session)):
        return False
    newest = here.shelf[0]
    is_recent = time.time() - newest.file.modified_at < handoff_resume.STALE_S
    return is_recent and (not session or newest.document.session_id != session)


def _is_first_message(here: ProjectHandoffs, session: str) -> bool:
    """Say whether the session has asked for nothing yet, and neither left nor taken up a handoff."""
    journal = here.journal
    fact = journal.fact(f"state:{session}")
    state = fact.body.state if fact and isinstance(fact.body, StateChanged) else None
    # Until something is asked, the goal is only the title that the client gives.
    has_asked = state is not None and state.goal not in ("", state.title)
    return not (
        has_asked
        or journal.facts_of_session(session, "handoff")
        or journal.facts_of_session(session, "handoff-resumed")
    )
