"""``flow drop``: drop steps that are not wanted any more."""

import argparse
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.steps import close_step
from flowd.cli.verb import add_verb

EXAMPLES = """\
  flow next                the open steps, numbered
  flow drop 2              the second one is not wanted any more
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow drop``."""
    parser = add_verb(
        subparsers,
        "drop",
        "drop steps that are not wanted any more",
        "Close open steps by the numbers that `flow next` shows.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("numbers", nargs="+", type=int, metavar="N", help="the number of a step")


def run(arguments: argparse.Namespace) -> int:
    """Close the steps, the last number first, so that the others keep theirs."""
    root = find_project().root
    with Context() as context:
        for number in sorted(set(arguments.numbers), reverse=True):
            print(f"dropped: {close_step(context, root, number, 'dropped').text}")
    return 0
