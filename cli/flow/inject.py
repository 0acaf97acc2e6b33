"""``flow inject``: print the briefing for the next session, or save the state of the checkout for it."""

import argparse
import sys
from typing import Any

from flowd.actions.brief import compose, request_for_start
from flowd.actions.context import Context, find_project
from flowd.actions.handoff_yaml import save_state
from flowd.cli.parser import add_verb
from flowd.handoff.briefing import LEVELS

# L1 is what the SessionStart hook injects; its budget is the setting `inject.budget_bytes`.
BUDGETS = {"L0": 500, "L2": 6000, "L3": 10_000}
EXAMPLES = """\
  flow inject                  what the next session in this project will get
  flow inject --level L0       goal and last step (500 bytes)
  flow inject --level L1       what a starting session gets (default)
  flow inject --level L2       also files, decisions and other work (6,000 bytes)
  flow inject --level L3       everything flowd knows (10,000 bytes)
  flow inject --save-state     save branch and uncommitted files before a compaction
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow inject``."""
    parser = add_verb(
        subparsers,
        "inject",
        "print the briefing for the next session",
        "Print the state of the work in this project, as the next session will get it.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("-l", "--level", choices=LEVELS, default="L1", help="level of detail (default L1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="without the surrounding tags")
    parser.add_argument("--save-state", action="store_true", help="save branch and files instead of printing")


def run(arguments: argparse.Namespace) -> int:
    """Print the briefing, or save the state."""
    root = find_project().root
    with Context() as context:
        if arguments.save_state:
            save_state(context, root)
            print("state saved" if arguments.quiet else f"state saved in {root}")
            return 0
        asked = request_for_start(context, root)
        budget = BUDGETS.get(arguments.level, asked.budget_bytes)
        asked = asked._replace(level=arguments.level, budget_bytes=budget, tags=not arguments.quiet)
        injection = compose(context.database, asked, context.redact)
    if warning := injection.warning.removeprefix(asked.absence).strip():  # that is in the text, too
        print(warning, file=sys.stderr)
    if injection.text:
        print(injection.text)
    return 0
