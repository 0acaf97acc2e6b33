"""``flow init`` and ``flow trust``: create a handoff file, accept one that came with a repository."""

import argparse
import json
import sys
from typing import Any

import yaml

from flowd.actions.context import Context, find_project
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff_yaml import init_project
from flowd.actions.trust import Untrusted, find_untrusted, trust
from flowd.cli.parser import add_verb
from flowd.system.errors import FlowdError
from flowd.system.text import one_line


def add_init(subparsers: Any) -> None:
    """Add ``flow init``."""
    add_verb(
        subparsers,
        "init",
        "create a handoff.yaml in this project",
        "Create .flow-guardian/handoff.yaml in this project. A .gitignore in the folder hides it from git.",
        run_init,
        examples="  flow init\n  flow -C ~/shop init\n",
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
        "accept what came with the repository",
        "Print what came with this project and is not accepted: words of its handoff.yaml, task files and "
        "tracks, a handoff.yaml that git tracks, Beads that bd has not been used with. Accept it. What "
        "changes later must be accepted again.",
        run_trust,
        examples="  flow trust             show the fields, and ask\n  flow trust --yes       accept them\n",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="accept without asking")


def run_trust(arguments: argparse.Namespace) -> int:
    """Print what is not accepted, ask, and record the answer."""
    with Context() as context:
        untrusted = find_untrusted(context, find_project().root)
        if not untrusted:
            print("nothing to accept: every field was written by you or by flowd")
            return 0
        print("\n".join(_untrusted_lines(untrusted)))
        if not arguments.yes and not _is_confirmed():
            print("not accepted")
            return 1
        trust(context, untrusted)
        poke_daemon(context.paths)
    print("accepted" + (": sessions in this project will be given these words" * untrusted.has_words))
    return 0


def _untrusted_lines(untrusted: Untrusted) -> list[str]:
    lines = ["This came with the repository and is not accepted; none of it was written by you or flowd."]
    if untrusted.fields:
        lines += ["", "words of .flow-guardian/handoff.yaml:"]
        lines += [f"  {name}: {one_line(value)}" for name, value in untrusted.fields.items()]
    for block in untrusted.blocks:
        lines += ["", f"words of {block.file}:", *_quoted(_words_of(block.body))]
    for document in untrusted.documents:
        lines += ["", f"words of {document.path}:", *_quoted(document.text)]
    if untrusted.tracked:
        lines += [
            "",
            f"git tracks {untrusted.tracked}: flowd would keep it up to date, and git show it changed",
        ]
    if untrusted.beads:
        lines += ["", f"flowd would keep notes in Beads by running bd: {untrusted.beads[1]}"]
    return [*lines, ""]


def _words_of(body: str) -> str:
    """Return everything that a block says, without what it leaves out."""
    said = {name: value for name, value in json.loads(body).items() if value}
    return yaml.safe_dump(said, allow_unicode=True, sort_keys=False, width=10_000)


def _quoted(text: str) -> list[str]:
    return [f"  | {line}" for line in text.splitlines()]


def _is_confirmed() -> bool:
    if not sys.stdin.isatty():
        raise FlowdError(
            "cannot ask: standard input is not a terminal", hint="run `flow trust --yes` to accept"
        )
    return input("Accept all of this? [y/N] ").strip().lower() in ("y", "yes")
