"""``flowd uninstall``: undoes ``flowd install`` and leaves the data."""

import argparse
from typing import Any

from flowd.cli.flowd.install.steps import chosen
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "uninstall",
        help="undo install; your data stays",
        description="Stop flowd and remove what `flowd install` wrote. What flowd remembers stays.",
    )
    parser.add_argument("--dry-run", action="store_true", help="show everything, change nothing")
    parser.add_argument("--hooks", action="store_true", help="remove only Claude Code's hooks")
    parser.add_argument("--mcp", action="store_true", help="remove only the MCP server's registrations")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Undo every step; each stands on its own, and the service comes first."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.uninstall(paths, arguments)
    if arguments.hooks or arguments.mcp:
        return 0
    left = [place for place in (paths.data_dir, paths.state_dir, paths.config_file) if place.exists()]
    if left:
        print("what flowd remembers stays where it is; delete it yourself if you want it gone:")
        print("\n".join(f"  {place}" for place in dict.fromkeys(left)))
    return 0
