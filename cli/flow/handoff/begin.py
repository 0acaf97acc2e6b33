"""``flow handoff begin``: resume a track and mark the start of its next epic."""

import argparse
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.create import begin_epic
from flowd.actions.handoff.project import open_project
from flowd.cli.flow.handoff.track import created_lines, question_about_workers, track_lines
from flowd.cli.output import print_json, visible
from flowd.cli.verb import add_verb

EXAMPLES = """\
  flow handoff begin auth_20260101        its first open epic
  flow handoff begin auth_20260101 E2
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff begin``."""
    parser = add_verb(
        subparsers,
        "begin",
        "begin an epic of a conductor track",
        "Resume a track with its Beads context and progress, and create the epic-start handoff.",
        run,
        examples=EXAMPLES,
        json="print the track and the new handoff as JSON",
    )
    parser.add_argument("track", metavar="TRACK", help="a track below conductor/tracks")
    parser.add_argument("epic", nargs="?", default="", metavar="EPIC", help="default: the first open one")


def run(arguments: argparse.Namespace) -> int:
    """Begin the epic, and print the track and the new handoff."""
    with Context() as context:
        begun = begin_epic(open_project(context), arguments.track, arguments.epic, question_about_workers())
    if arguments.json:
        print_json(begun)
    else:
        print("\n".join(map(visible, [*track_lines(begun.track), *created_lines(begun.created)])))
    return 1 if begun.created.cancelled else 0
