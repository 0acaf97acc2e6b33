"""``flow trust``: let the words of a handoff.yaml that came with a repository be told to Claude."""

import argparse
import sys
from pathlib import Path
from typing import Any

from flowd.actions.context import open_store, this_project
from flowd.handoff.yaml.api import load_handoff
from flowd.store.handoff_yaml_state import HandoffYamlStates
from flowd.store.journal import Journal
from flowd.store.user_fields import is_trusted, trust_fact, untrusted_fields, user_fields
from flowd.system.errors import FlowdError
from flowd.workspace.project import FOLDER


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "trust",
        help="accept a handoff.yaml from elsewhere",
        description=(
            "Show the words of this project's handoff.yaml that were not written on this machine, and "
            "accept them. Other words, later, need another yes."
        ),
    )
    parser.add_argument("-y", "--yes", action="store_true", help="accept without asking")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show, ask, and remember the answer."""
    root = this_project().root
    database = open_store()
    journal = Journal(database)
    present = (load_handoff(Path(root)) or {}) if (Path(root) / FOLDER).exists() else {}
    shown = HandoffYamlStates(database).get(root)
    foreign = untrusted_fields(present, shown, user_fields(journal, root)[0])
    if is_trusted(journal, root, shown, foreign):
        print("nothing to accept: every word in it is yours or flowd's")
        return 0
    for field, value in foreign.items():
        print(f"{field}: {value}")
    if not arguments.yes and not _said_yes():
        print("not accepted")
        return 1
    journal.append(trust_fact(root, foreign))
    print("accepted: a session may be told these words")
    return 0


def _said_yes() -> bool:
    if not sys.stdin.isatty():
        raise FlowdError(
            "nobody is there to say yes", hint="run `flow trust --yes` if you accept these words"
        )
    return input("Tell these words to Claude? [y/N] ").strip().lower() in ("y", "yes")
