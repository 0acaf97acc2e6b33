"""``flow save``: set fields of the handoff by hand; they take precedence over what flowd extracts."""

import argparse
import sys
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.save import FIELDS, SaveRequest, SaveResult, save
from flowd.cli.output import print_json
from flowd.cli.parser import add_verb

EXAMPLES = """\
  flow save "Halfway through the parser; tests still red"
  flow save --goal "Ship JWT login" --status in_progress
  flow save "Waiting for the API key" --status blocked
  flow save --clear goal                   let flowd fill it again
"""
STATUSES = ("in_progress", "completed", "blocked")


def add_parser(subparsers: Any) -> None:
    """Add ``flow save``."""
    parser = add_verb(
        subparsers,
        "save",
        "save the state of the work in your own words",
        "Set fields of this project's handoff. flowd keeps your words until you change or clear them, or "
        "begin other work; MESSAGE stays until the next request has been worked on.",
        run,
        examples=EXAMPLES,
        json="print the saved handoff as JSON",
    )
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="what you are working on now")
    parser.add_argument("--goal", help="what the work is to accomplish")
    parser.add_argument("--now", help="the same as MESSAGE")
    parser.add_argument("--hypothesis", help="the working theory")
    parser.add_argument("--outcome", help="the result")
    parser.add_argument("--status", choices=STATUSES)
    parser.add_argument(
        "--files", nargs="+", metavar="FILE", help="files worked on (default: uncommitted ones)"
    )
    parser.add_argument(
        "--clear", nargs="+", choices=FIELDS, default=[], metavar="FIELD", help="let flowd fill it again"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing on success")


def run(arguments: argparse.Namespace) -> int:
    """Save the fields, and print where."""
    request = SaveRequest(
        now=arguments.message or arguments.now,
        goal=arguments.goal,
        hypothesis=arguments.hypothesis,
        outcome=arguments.outcome,
        status=arguments.status,
        files=tuple(arguments.files or ()),
        cleared=tuple(arguments.clear),
    )
    with Context() as context:
        result = save(context, find_project(), request)
    _print(result, as_json=arguments.json, quiet=arguments.quiet)
    return 0


def _print(result: SaveResult, *, as_json: bool, quiet: bool) -> None:
    if error := result.store_error:
        print(f"flow: saved in handoff.yaml only: {error}\n  {error.hint}", file=sys.stderr)
    if as_json:
        print_json(result.handoff)
    elif not quiet:
        is_direct = result.store_error is None and not result.is_daemon_running
        print(f"saved to {result.path}{' (flowd is not running: written directly)' if is_direct else ''}")
