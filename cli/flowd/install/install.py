"""``flowd install``: start flowd at login, and register its hooks and MCP server."""

import argparse
from typing import Any

from flowd.cli.flowd.install.steps import chosen, steps
from flowd.cli.verb import add_verb
from flowd.config.paths import resolve_paths

EXAMPLES = """\
  flowd install --dry-run     print what would be written and run
  flowd install               start at every login, and now
  flowd install --hooks       have Claude Code call flowd (prints the change to settings.json)
  flowd uninstall             undo it; your data stays
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd install``."""
    parser = add_verb(
        subparsers,
        "install",
        "start at every login",
        "Register flowd with the service manager: systemd on Linux, launchd on macOS.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")
    for step in steps():
        step.add_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run every step; a second run changes nothing."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.install(paths, arguments)
    return 0
