"""``flow show``: where the work in this project stands, who else is at it, and what has drifted."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import open_store, this_project
from flowd.actions.daemon_client import running_holder
from flowd.cli.output import paint
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.handoff.yaml.api import load_handoff
from flowd.model.facts import Checkpointed, Injected
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.store.documents import of_project, open_escalations
from flowd.store.journal import Journal
from flowd.store.threads.threads import counts as thread_counts
from flowd.system.errors import StoreError
from flowd.system.times import age, to_seconds
from flowd.workspace.clients import gone_sessions
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.project import FOLDER, Project

INJECTIONS_SHOWN = 5
FIELDS = ("goal", "status", "now", "hypothesis", "outcome", "branch", "files")
EXAMPLES = """\
examples:
  flow show                where the work stands
  flow show --injected     what sessions here were told, and when
  flow show --json
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "show",
        help="where the work stands",
        description="Show this project's handoff, its live sessions, and what has changed since.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--injected", action="store_true", help="what the sessions here were told")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the view."""
    view = _view(this_project())
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(view)).decode())
    else:
        print("\n".join(_injected(view) if arguments.injected else _page(view)))
    return 0


def _view(project: Project) -> dict[str, Any]:
    root = Path(project.root)
    handoff = (load_handoff(root) or {}) if (root / FOLDER).exists() else {}
    at = to_seconds(handoff.get("timestamp"))
    files = handoff.get("files")
    listed = tuple(str(name) for name in files) if isinstance(files, list) else ()
    then = RecordedState(str(handoff.get("branch") or ""), listed, at)
    view: dict[str, Any] = {
        "project": project.root,
        "worktree": project.worktree,
        "handoff": handoff,
        "age": age(at) if handoff else "",
        "drift": drift(project.root, then) if handoff else [],
        "daemon_running": running_holder(resolve_paths().lock) is not None,
        "escalations": [],
    }
    try:
        return view | _from_store(project)
    except StoreError as error:
        return view | {"store_error": str(error), "sessions": [], "injected": [], "threads": {}}


def _from_store(project: Project) -> dict[str, Any]:
    database = open_store()
    journal = Journal(database)
    settings = load_settings(resolve_paths().config_file).settings
    gone = gone_sessions(settings.claude.config_dir)
    phase = partial(phase_of, idle_after_s=settings.idle.after_minutes * 60, gone=gone)
    threads = thread_counts(database)
    sessions = [
        _session(journal, state, phase(state))
        for state in journal.states_of(project.root, project.repository, 10)
    ]
    return {
        "sessions": sessions,
        "injected": [
            {"session_id": fact.session_id, "at": fact.at, "source": fact.body.source, "text": fact.body.text}
            for fact in journal.facts_of_project(project.root, "injected", INJECTIONS_SHOWN)
            if isinstance(fact.body, Injected)
        ],
        "escalations": [
            f"{found.reason} ({found.path}): `flow handoff ack` when seen"
            for found in of_project(open_escalations(journal), project.root)
        ],
        "threads": {
            "active": threads.active,
            "unread_chat": threads.unread_chat,
            "unread_code": threads.unread_code,
        },
    }


def _session(journal: Journal, state: SessionState, phase: str) -> dict[str, Any]:
    """Return one session with its ledger: captured, stored, checkpoints kept, injected."""
    checkpoints = journal.facts_of_session(state.session_id, "checkpoint")
    return {
        "session_id": state.session_id,
        "phase": phase,
        "last_activity": age(latest_activity(state)),
        "branch": state.branch,
        "goal": state.goal,
        "now": state.now,
        "status": state.status,
        "captured_records": state.records,
        "stored_facts": journal.count_of_session(state.session_id),
        "checkpoints": [
            {"id": fact.body.id, "trigger": fact.body.trigger, "at": fact.at}
            for fact in checkpoints
            if isinstance(fact.body, Checkpointed)
        ],
        "injected": len(journal.facts_of_session(state.session_id, "injected")),
    }


def _page(view: dict[str, Any]) -> list[str]:
    lines = [paint(view["project"], "bold")]
    if not view["handoff"]:
        lines.append("no handoff yet: it comes with the first session, or with `flow save`")
    for field in FIELDS:
        value = view["handoff"].get(field)
        if value:
            lines.append(f"  {field + ':':<12}{_text(value)}")
    if view["age"]:
        lines.append(f"  {'age:':<12}{view['age']}")
    lines += [paint(f"  drift:      {sentence}", "yellow") for sentence in view["drift"]]
    lines += [paint(f"  ! {text}", "red") for text in view["escalations"]]
    return [*lines, *_sessions(view), *_foot(view)]


def _text(value: object) -> str:
    if not isinstance(value, list):
        return str(value)
    more = len(value) - 5
    return ", ".join(map(str, value[:5])) + (f" (+{more} more)" if more > 0 else "")


def _sessions(view: dict[str, Any]) -> list[str]:
    shown = view["handoff"].get("session_id")
    others = [line for line in view["sessions"] if line["session_id"] != shown and line["phase"] == "active"]
    if not others:
        return []
    return [
        "",
        "other sessions at work here:",
        *(
            f"  {line['session_id'][:8]}  {line['branch'] or '-'}  {line['now'] or line['goal']}"
            for line in others
        ),
    ]


def _foot(view: dict[str, Any]) -> list[str]:
    lines = []
    threads = view["threads"]
    if threads.get("unread_code") or threads.get("unread_chat"):
        lines.append(f"threads: {threads['unread_code']} unread for code, {threads['unread_chat']} for chat")
    if view.get("store_error"):
        lines.append(f"core.db: {view['store_error']}")
    if not view["daemon_running"]:
        lines.append("flowd is not running: this is what was kept before (`flowd start`)")
    return ["", *lines] if lines else []


def _injected(view: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for told in view["injected"]:
        lines.append(f"session {told['session_id'][:8]}, {told['source']}, {age(told['at'])}:")
        lines += [f"  {line}" for line in told["text"].splitlines()]
    return lines or ["no session here has been told anything yet"]
