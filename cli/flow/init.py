"""``flow init``: create a handoff.yaml in this project."""

import argparse
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.handoff_yaml import init_project
from flowd.cli.verb import add_verb


def add_parser(subparsers: Any) -> None:
    """Add ``flow init``."""
    add_verb(
        subparsers,
        "init",
        "create a handoff.yaml in this project",
        "Create .flow-guardian/handoff.yaml in this project. A .gitignore in the folder hides it from git.",
        run,
    )


def run(_: argparse.Namespace) -> int:
    """Create the file unless it exists, and print its path."""
    with Context() as context:
        result = init_project(context, find_project().root)
    print(f"{'created' if result.is_new else 'already exists:'} {result.path}")
    return 0
