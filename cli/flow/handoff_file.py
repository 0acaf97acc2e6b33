"""``flow init`` and ``flow trust``: create a handoff file, accept one that came with a repository."""

import argparse
import sys
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.handoff_yaml import find_untrusted, init_project, trust
from flowd.cli.main import add_verb
from flowd.system.errors import FlowdError


def add_init(subparsers: Any) -> None:
    """Add ``flow init``."""
    add_verb(
        subparsers,
        "init",
        "create a handoff.yaml in this project",
        "Create .flow-guardian/handoff.yaml in this project. A .gitignore in the folder hides it from git.",
        run_init,
    )


def run_init(_: argparse.Namespace) -> int:
    """Create the file unless it exists, and print its path."""
    with Context() as context:
        result = init_project(context, find_project().root)
    print(f"{'created' if result.is_new else 'already exists:'} {result.path}")
    return 0


def add_trust(subparsers: Any) -> None:
    """Add ``flow trust``."""
    parser = add_verb(
        subparsers,
        "trust",
        "accept a handoff.yaml that came with the repository",
        "Print the fields of this project's handoff.yaml that were not written on this machine, and accept "
        "them. If they change later, they must be accepted again.",
        run_trust,
    )
    parser.add_argument("-y", "--yes", action="store_true", help="accept without asking")


def run_trust(arguments: argparse.Namespace) -> int:
    """Print the untrusted fields, ask, and record the answer."""
    with Context() as context:
        untrusted = find_untrusted(context, find_project().root)
        if not untrusted.fields:
            print("nothing to accept: every field was written by you or by flowd")
            return 0
        for field, value in untrusted.fields.items():
            print(f"{field}: {value}")
        if not arguments.yes and not _is_confirmed():
            print("not accepted")
            return 1
        trust(context, untrusted)
    print("accepted: sessions in this project will be given these fields")
    return 0


def _is_confirmed() -> bool:
    if not sys.stdin.isatty():
        raise FlowdError(
            "cannot ask: standard input is not a terminal", hint="run `flow trust --yes` to accept"
        )
    return input("Give these fields to Claude? [y/N] ").strip().lower() in ("y", "yes")
