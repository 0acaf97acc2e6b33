"""``flow done``: mark steps as done."""

import argparse
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.steps import close_step
from flowd.cli.verb import add_verb

EXAMPLES = """\
  flow next                the open steps, numbered
  flow done 2              the second one is done
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow done``."""
    parser = add_verb(
        subparsers,
        "done",
        "mark steps as done",
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
            print(f"done: {close_step(context, root, number, 'done').text}")
    return 0
