"""``flow handoff begin``: take a track up, see how far it is, and mark the start of its next epic."""

import argparse
import time
from typing import Any

import msgspec

from flowd.actions.context import current_session
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.project_handoffs import ProjectHandoffs, open_project
from flowd.cli.flow.handoff.track import (
    create_in_track,
    created_lines,
    created_view,
    meant_track,
    taken_up,
    taken_up_lines,
)
from flowd.cli.output import print_json, visible
from flowd.handoff.track.tracks import Track
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Fact
from flowd.store.user_fields import binding_fact
from flowd.system.errors import FlowdError

EXAMPLES = """\
examples:
  flow handoff begin auth_20260101        its first epic that is not closed
  flow handoff begin auth_20260101 E2
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "begin",
        help="begin an epic of a conductor track",
        description="Resume a track with its Beads context and progress, and make the epic-start handoff.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("track", metavar="TRACK", help="a track below conductor/tracks")
    parser.add_argument("epic", nargs="?", default="", metavar="EPIC", help="default: the first open one")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it all in one step, and show it."""
    here = open_project()
    track = meant_track(here.journal, here.project.root, arguments.track)
    if track is None:
        raise FlowdError("the conductor is turned off", hint="see `conductor.enabled` in `flowd config`")
    view = taken_up(track)
    fact = _checkpoint(here, track, arguments.epic or _first_open(track))
    created = create_in_track(track, fact)
    assert created is not None, "epic-start is a trigger of the conductor"
    if not created.is_cancelled:
        here.journal.append(*_facts(here, track, fact))
        poke_daemon()
    if arguments.json:
        print_json({"track": view, "created": created_view(created)})
    else:
        print("\n".join(map(visible, [*taken_up_lines(view), *created_lines(created)])))
    return 1 if created.is_cancelled else 0


def _checkpoint(here: ProjectHandoffs, track: Track, epic: str) -> Fact:
    state = msgspec.structs.replace(here.state(), project=here.project.root)
    moment = f"epic-start:{track.name}:{epic}:{time.time()}"
    return checkpoint_fact(state, "epic-start", moment, "", track=track.name, epic=epic)


def _facts(here: ProjectHandoffs, track: Track, fact: Fact) -> list[Fact]:
    session = current_session()
    return [fact, *([binding_fact(session, here.project.root, track.name)] if session else [])]


def _first_open(track: Track) -> str:
    labels = track.plan().labels
    return next((label for label, phase in labels.items() if not phase.is_closed), "")
