"""``flow inject``: what a session should know, as text; and the state saved for the next one."""

import argparse
import sys
from pathlib import Path
from typing import Any

from flowd.actions.brief import BriefingRequest, compose
from flowd.actions.context import current_session, open_store, this_project
from flowd.actions.save_state import save_state
from flowd.handoff.briefing import LEVELS

BUDGETS = {"L0": 500, "L1": 2048, "L2": 4096, "L3": 10_000}
EXAMPLES = """\
examples:
  flow inject                  what the next session would be told
  flow inject --level L3       everything flowd knows about it
  flow inject --save-state     note branch and uncommitted files before a compaction
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "inject",
        help="print what a session should know",
        description="Print the state of the work in this project as context for a session.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-l", "--level", choices=LEVELS, default="L1", help="how much (default L1)")
    parser.add_argument("-q", "--quiet", action="store_true", help="without the surrounding tags")
    parser.add_argument("--save-state", action="store_true", help="save branch and files instead of printing")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the context, or save the state."""
    project = this_project()
    if arguments.save_state:
        save_state(Path(project.root))
        print("state saved" if arguments.quiet else f"state saved in {project.root}")
        return 0
    asked = BriefingRequest(
        cwd=project.root,
        session_id=current_session(),
        level=arguments.level,
        budget_bytes=BUDGETS[arguments.level],
        tags=not arguments.quiet,
    )
    injection = compose(open_store(), asked)
    if injection.warning:
        print(injection.warning, file=sys.stderr)
    if injection.text:
        print(injection.text)
    return 0
