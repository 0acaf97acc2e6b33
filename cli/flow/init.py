"""``flow init``: begin to keep a handoff.yaml for this project."""

import argparse
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import open_store, this_project
from flowd.handoff.yaml.api import get_handoff_path, load_handoff, update_handoff
from flowd.store.handoff_yaml_state import HandoffYamlStates, folder_identity
from flowd.workspace.git import read_branch
from flowd.workspace.project import FOLDER


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "init",
        help="begin in this project",
        description="Make .flow-guardian/handoff.yaml in this project. The folder ignores itself in git.",
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Make the file, or say that it is there."""
    project = this_project()
    root = Path(project.root)
    path = get_handoff_path(root)
    if path.exists() and load_handoff(root):
        print(f"already there: {path}")
        return 0
    is_new = not (root / FOLDER).exists()
    branch = read_branch(project.root) or None
    update_handoff({"goal": f"Working on {root.name}", "now": "Just begun", "branch": branch}, root)
    if is_new:
        handoffs = HandoffYamlStates(open_store())
        handoffs.put(
            msgspec.structs.replace(handoffs.get(project.root), folder=folder_identity(project.root))
        )
    print(f"made {path}")
    return 0
