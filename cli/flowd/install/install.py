"""``flowd install``: hands flowd to the login, and to whatever else is asked for."""

import argparse
from typing import Any

from flowd.cli.flowd.install.steps import chosen, steps
from flowd.config.paths import resolve_paths

EXAMPLES = """\
examples:
  flowd install --dry-run     show what would be written and run, change nothing
  flowd install               start at every login, and now
  flowd install --hooks       have Claude Code call flowd (shows the change to settings.json)
  flowd uninstall             undo it; your data stays
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "install",
        help="start it at every login",
        description="Hand flowd to the service manager: systemd on Linux, launchd on a Mac.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--dry-run", action="store_true", help="show everything, change nothing")
    for step in steps():
        step.add_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Take every step; running it again changes nothing that is as it should be."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.install(paths, arguments)
    return 0
