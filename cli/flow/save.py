"""``flow save``: your words about the work, kept above everything flowd finds out by itself."""

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import current_session, open_store, settings_in_force, this_project
from flowd.actions.daemon_client import poke_daemon
from flowd.handoff.yaml.api import load_handoff, update_handoff
from flowd.model.checkpoints import checkpoint_fact, moment
from flowd.model.session import SessionState
from flowd.redaction.redactor import redact
from flowd.store.handoff_yaml_state import HandoffYamlStates, folder_identity
from flowd.store.journal import Journal
from flowd.store.user_fields import UserFields, user_fields_fact
from flowd.system.errors import StoreError
from flowd.workspace.git import read_branch, uncommitted_files
from flowd.workspace.project import FOLDER, Project

EXAMPLES = """\
examples:
  flow save "Halfway through the parser; tests still red"
  flow save --goal "Ship JWT login" --status in_progress
  flow save "Waiting for the API key" --status blocked
"""
STATUSES = ("in_progress", "completed", "blocked")


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "save",
        help="say where the work stands",
        description="Write where the work stands; your words stay until you change them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("message", nargs="?", metavar="MESSAGE", help="what is being worked on now")
    parser.add_argument("--goal", help="what is to be accomplished")
    parser.add_argument("--now", help="the same as MESSAGE")
    parser.add_argument("--hypothesis", help="the working theory")
    parser.add_argument("--outcome", help="what came out")
    parser.add_argument("--status", choices=STATUSES)
    parser.add_argument(
        "--files", nargs="+", metavar="FILE", help="files worked on (default: uncommitted ones)"
    )
    parser.add_argument("--json", action="store_true", help="print the saved handoff as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing on success")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Save, and say where."""
    settings_in_force()
    project = this_project()
    said = _said(arguments)
    saved = _write_file(project, said)
    stored = _write_store(project, said)
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(saved)).decode())
    elif not arguments.quiet:
        print(f"saved to {Path(project.root) / FOLDER / 'handoff.yaml'}{stored}")
    return 0


def _said(arguments: argparse.Namespace) -> UserFields:
    given = {
        "goal": arguments.goal,
        "now": arguments.message or arguments.now,
        "hypothesis": arguments.hypothesis,
        "outcome": arguments.outcome,
        "status": arguments.status,
    }
    said: UserFields = {field: redact(text) for field, text in given.items() if text is not None}
    if arguments.files:
        said["files"] = [redact(name) for name in arguments.files]
    return said


def _write_file(project: Project, said: UserFields) -> dict[str, Any]:
    root = Path(project.root)
    is_new = not (root / FOLDER).exists()
    present = load_handoff(root) or {}
    updates: dict[str, Any] = dict(said)
    updates.setdefault("files", uncommitted_files(project.root) or present.get("files") or [])
    updates["branch"] = read_branch(project.root) or None
    if not present.get("goal"):
        updates.setdefault("goal", said.get("now") or f"Working on {root.name}")
    if not present.get("now"):
        updates.setdefault("now", "Working on project")
    saved = update_handoff(updates, root)
    if is_new:
        _remember_folder(project.root)
    return saved


def _remember_folder(root: str) -> None:
    try:
        handoffs = HandoffYamlStates(open_store())
        handoffs.put(msgspec.structs.replace(handoffs.get(root), folder=folder_identity(root)))
    except StoreError:
        return  # said once, by _write_store


def _write_store(project: Project, said: UserFields) -> str:
    """Keep the words and a checkpoint in core.db; return what is to be said about it."""
    try:
        journal = Journal(open_store())
        state = _state(journal, project, said)
        facts = [checkpoint_fact(state, "manual", moment("manual", state), "")]
        if said:
            facts.append(user_fields_fact(journal, project.root, said, state.session_id))
        journal.append(*facts)
    except StoreError as error:
        print(f"flow: kept in handoff.yaml only: {error}\n  {error.hint}", file=sys.stderr)
        return ""
    return "" if poke_daemon() else " (flowd is not running: written directly)"


def _state(journal: Journal, project: Project, said: UserFields) -> SessionState:
    """Return the present session's state with the person's words laid over it."""
    states = journal.states_of(project.root, project.repository, 20)
    mine = current_session()
    own = [state for state in states if state.session_id == mine] or ([] if mine else states[:1])
    state = own[0] if own else SessionState(session_id=mine or "person", project=project.root)
    words: dict[str, Any] = {
        field: tuple(value) if isinstance(value, list) else value for field, value in said.items()
    }
    return msgspec.structs.replace(state, **words)
