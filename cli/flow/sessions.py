"""``flow sessions``: the sessions flowd knows, most recent first."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from flowd.actions.context import open_store, this_project
from flowd.cli.output import ago, home_relative, table
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.store.journal import Journal
from flowd.system.errors import FlowdError
from flowd.workspace.clients import gone_sessions

Phase = Callable[[SessionState], str]


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "sessions",
        help="the sessions of this project",
        description="List the sessions that flowd has followed.",
    )
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")
    parser.add_argument("-n", "--most", type=int, default=20, metavar="N", help="at most N (default 20)")
    parser.add_argument("--json", action="store_true", help="whole states as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List the sessions."""
    states = _states(everywhere=arguments.all, most=arguments.most)
    phase = _phases()
    if arguments.json:
        plain = [msgspec.to_builtins(state) | {"phase": phase(state)} for state in states]
        print(msgspec.json.format(msgspec.json.encode(plain)).decode())
        return 0
    if not states:
        print("no session seen here yet")
        return 0
    head: tuple[str, ...] = ("SESSION", "STATE", "ACTIVE", "PROJECT" if arguments.all else "BRANCH", "GOAL")
    rows = [head, *(_row(state, phase, everywhere=arguments.all) for state in states)]
    print("\n".join(table(rows, shrink=4)))
    return 0


def _states(*, everywhere: bool, most: int) -> list[SessionState]:
    journal = Journal(open_store())
    if everywhere:
        return journal.latest_states(most)
    try:
        project = this_project()
    except FlowdError as error:
        raise FlowdError(str(error), hint="`flow sessions --all` lists those of all projects") from error
    return journal.states_of(project.root, project.repository, most)


def _phases() -> Phase:
    settings = load_settings(resolve_paths().config_file).settings
    gone = gone_sessions(settings.claude.config_dir)
    return partial(phase_of, idle_after_s=settings.idle.after_minutes * 60, gone=gone)


def _row(state: SessionState, phase: Phase, *, everywhere: bool) -> tuple[str, ...]:
    return (
        state.session_id[:8],
        phase(state),
        ago(latest_activity(state)),
        home_relative(state.project or state.cwd) if everywhere else state.branch or "-",
        state.goal or state.title or "-",
    )
