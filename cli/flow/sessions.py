"""``flow sessions``: list the sessions that flowd has followed, most recent first."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from flowd.actions.context import Context, find_project
from flowd.cli.main import add_verb
from flowd.cli.output import ago, home_relative, print_json, table
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.system.errors import FlowdError
from flowd.workspace.clients import gone_sessions

Phase = Callable[[SessionState], str]


def add_parser(subparsers: Any) -> None:
    """Add ``flow sessions``."""
    parser = add_verb(
        subparsers,
        "sessions",
        "list the sessions of this project",
        "List the sessions that flowd has followed.",
        run,
        json="print whole states as JSON",
    )
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")
    parser.add_argument("-n", "--most", type=int, default=20, metavar="N", help="at most N (default 20)")


def run(arguments: argparse.Namespace) -> int:
    """List the sessions."""
    with Context() as context:
        states = _states(context, everywhere=arguments.all, most=arguments.most)
        phase = _phase(context)
    if arguments.json:
        print_json([msgspec.to_builtins(state) | {"phase": phase(state)} for state in states])
    elif not states:
        print("no sessions seen here yet")
    else:
        print("\n".join(_table(states, phase, everywhere=arguments.all)))
    return 0


def _states(context: Context, *, everywhere: bool, most: int) -> list[SessionState]:
    if everywhere:
        return context.journal.latest_states(most)
    try:
        project = find_project()
    except FlowdError as error:
        raise FlowdError(str(error), hint="list those of all projects with `flow sessions --all`") from error
    return context.journal.states_of(project.root, project.repository, most)


def _phase(context: Context) -> Phase:
    settings = context.settings
    gone = gone_sessions(settings.claude.config_dir)
    return partial(phase_of, idle_after_s=settings.idle.after_minutes * 60, gone=gone)


def _table(states: list[SessionState], phase: Phase, *, everywhere: bool) -> list[str]:
    head = ("SESSION", "STATE", "ACTIVE", "PROJECT" if everywhere else "BRANCH", "GOAL")
    return table([head, *(_row(state, phase, everywhere=everywhere) for state in states)], shrink=4)


def _row(state: SessionState, phase: Phase, *, everywhere: bool) -> tuple[str, ...]:
    return (
        state.session_id[:8],
        phase(state),
        ago(latest_activity(state)),
        home_relative(state.project or state.cwd) if everywhere else state.branch or "-",
        state.goal or state.title or "-",
    )
