"""``flowd uninstall``: undo ``flowd install``; the data stays."""

import argparse
from typing import Any

from flowd.cli.flowd.install.steps import chosen
from flowd.cli.verb import add_verb
from flowd.config.paths import resolve_paths


def add_parser(subparsers: Any) -> None:
    """Add ``flowd uninstall``."""
    parser = add_verb(
        subparsers,
        "uninstall",
        "undo install; your data stays",
        "Stop flowd and remove what `flowd install` wrote. The data stays.",
        run,
    )
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")
    parser.add_argument("--hooks", action="store_true", help="remove only Claude Code's hooks")
    parser.add_argument("--mcp", action="store_true", help="remove only the MCP server's registrations")


def run(arguments: argparse.Namespace) -> int:
    """Undo every step, the service first."""
    paths = resolve_paths()
    for step in chosen(arguments):
        step.uninstall(paths, arguments)
    if arguments.hooks or arguments.mcp:
        return 0
    left = [place for place in (paths.data_dir, paths.state_dir, paths.config_file) if place.exists()]
    if left:
        print("flowd's data was not deleted; delete it yourself if you do not need it any more:")
        print("\n".join(f"  {place}" for place in dict.fromkeys(left)))
    return 0
