"""``flow show`` and ``flow sessions``: print the work in this project, and the sessions followed."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.overview import ProjectOverview, project_overview
from flowd.cli.output import ago, and_more_line, home_relative, paint, print_json, table, wrapped
from flowd.cli.parser import add_verb, count_of
from flowd.handoff.briefing import UNFINISHED
from flowd.model.session import SessionState, latest_activity, phase_of
from flowd.model.work import UserWords
from flowd.system.errors import FlowdError
from flowd.system.text import and_more, one_line
from flowd.system.times import age
from flowd.workspace.clients import gone_sessions

FIELDS = ("goal", "status", "now", "hypothesis", "outcome", "branch", "files")
MAX_FILES = 5
MARGIN = " " * 16
EXAMPLES = """\
  flow show                the state of the work
  flow show --injected     which briefings sessions here got, and when
  flow show --json
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow show``."""
    parser = add_verb(
        subparsers,
        "show",
        "show the state of the work",
        "Print this project's handoff, its active sessions, and what has changed since.",
        run,
        examples=EXAMPLES,
        json="print everything as JSON",
    )
    parser.add_argument("--injected", action="store_true", help="the briefings that sessions here got")


def run(arguments: argparse.Namespace) -> int:
    """Print the overview."""
    with Context() as context:
        overview = project_overview(context, find_project())
    if arguments.json:
        print_json(overview)
    else:
        print("\n".join(_injected_lines(overview) if arguments.injected else _page(overview)))
    return 0


def _page(overview: ProjectOverview) -> list[str]:
    lines = [paint(overview.project, "bold")]
    if overview.handoff_problem:
        text = f"handoff.yaml cannot be used: {overview.handoff_problem}"
        lines += _painted(text, "  ! ", " " * 4, "red")
        text = "correct it; or run `flow save`, which writes a new one and keeps the broken one beside it"
        lines += wrapped(text, first=" " * 4, rest=" " * 4)
    elif not overview.handoff and not overview.document:
        lines.append("no handoff yet: the first session creates it, or run `flow save`")
    for text in overview.escalations:
        lines += _painted(text, "  ! ", " " * 4, "red")
    for field, value in _fields(overview).items():
        lines += _field(field.lower(), value) + _whose(overview, field.lower())
    if overview.document:
        lines += _field("handoff", overview.document)
    if overview.age:
        lines += _field("age", overview.age)
    for sentence in overview.drift:
        lines += _painted(sentence, f"  {'drift:':<14}", MARGIN, "yellow")
    return [*lines, *_section_lines(overview), *_session_lines(overview), *_foot(overview)]


def _field(name: str, value: str) -> list[str]:
    return wrapped(value, first=f"  {name + ':':<14}", rest=MARGIN)


def _painted(text: str, first: str, rest: str, colour: str) -> list[str]:
    return [paint(line, colour) for line in wrapped(text, first=first, rest=rest)]


def _whose(overview: ProjectOverview, field: str) -> list[str]:
    """Return a line for a field that came with the repository, or was set by the user and is in force."""
    if field in overview.foreign and not overview.work:
        return _painted("(came with the repository, not accepted: `flow trust`)", MARGIN, MARGIN, "red")
    if overview.work and overview.work.origins.get(field) == "model":
        return _painted("(worded by your model)", MARGIN, MARGIN, "dim")
    user = overview.work.user if overview.work else UserWords()
    if not user.said.get(field) or user.said[field] != overview.handoff.get(field):
        return []
    said = f"(your words, {age(user.at[field])}; `flow save --clear {field}` ends them)"
    return _painted(said, MARGIN, MARGIN, "dim")


def _fields(overview: ProjectOverview) -> dict[str, str]:
    """Return the fields as sessions are told them; what only the file has, from the file."""
    written = {field.capitalize(): _text(value) for field in FIELDS if (value := overview.handoff.get(field))}
    return overview.fields | {name: text for name, text in written.items() if not overview.work}


def _section_lines(overview: ProjectOverview) -> list[str]:
    """Return the lists as sessions are told them; the open steps with their numbers."""
    lines: list[str] = []
    for title, items in overview.sections.items():
        is_steps = title == UNFINISHED
        lines += ["", f"{title.lower()}:"]
        for number, item in enumerate(items, 1):
            mark = f"{number:>3}. " if is_steps else "  - "
            lines += wrapped(item, first=mark, rest=" " * len(mark))
    return lines


def _text(value: object) -> str:
    return one_line(and_more(list(map(str, value)), MAX_FILES) if isinstance(value, list) else str(value))


def _session_lines(overview: ProjectOverview) -> list[str]:
    shown = overview.handoff.get("session_id")
    others = [
        session for session in overview.sessions if session.session_id != shown and session.phase == "active"
    ]
    if not others:
        return []
    lines = ["", "other active sessions here:"]
    for session in others:
        text = f"{session.session_id[:8]}  {session.branch or '-'}  {one_line(session.now or session.goal)}"
        lines += wrapped(text, first="  ", rest=" " * 12)
    return lines


def _foot(overview: ProjectOverview) -> list[str]:
    lines, threads = [], overview.threads
    if threads.unread_code or threads.unread_chat:
        unread = f"{threads.unread_code} unread for code, {threads.unread_chat} for chat"
        lines.append(f"threads: {unread} (`flow thread list`)")
    if overview.foreign:
        lines.append("handoff.yaml has words that came with the repository, not accepted: run `flow trust`")
    if overview.store_error:
        lines.append(f"core.db: {overview.store_error}")
    if overview.absence:
        lines.append(overview.absence)
    return ["", *(part for line in lines for part in wrapped(line, first="", rest="  "))] if lines else []


def _injected_lines(overview: ProjectOverview) -> list[str]:
    lines: list[str] = []
    for briefing in overview.injected:
        lines.append(f"session {briefing.session_id[:8]}, {briefing.source}, {age(briefing.at)}:")
        lines += [f"  {line}" for line in briefing.text.splitlines()]
    return lines or ["no session here has got a briefing yet"]


Phase = Callable[[SessionState], str]


SESSIONS_EXAMPLES = """\
  flow sessions                those of this project, the latest first
  flow sessions --all -n 50    of all projects
  flow sessions --json         whole session ids, for `claude --resume`
"""


def add_sessions(subparsers: Any) -> None:
    """Add ``flow sessions``."""
    parser = add_verb(
        subparsers,
        "sessions",
        "list the sessions of this project",
        "List the sessions that flowd has followed.",
        run_sessions,
        examples=SESSIONS_EXAMPLES,
        json="print whole states as JSON",
    )
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")
    parser.add_argument("-n", "--most", type=count_of, default=20, metavar="N", help="at most N (default 20)")


def run_sessions(arguments: argparse.Namespace) -> int:
    """List the sessions."""
    with Context() as context:
        states, total = _states(context, everywhere=arguments.all, most=arguments.most)
        phase = _phase(context)
    if arguments.json:
        print_json([_with_phase(state, phase(state)) for state in states], name="sessions")
    elif not states:
        print("no sessions seen here yet")
    else:
        lines = _table(states, phase, everywhere=arguments.all)
        print("\n".join(lines + and_more_line(len(states), total, "list them with `-n N`")))
    return 0


def _with_phase(state: SessionState, phase: str) -> dict[str, Any]:
    return {name: getattr(state, name) for name in state.__struct_fields__} | {"phase": phase}


def _states(context: Context, *, everywhere: bool, most: int) -> tuple[list[SessionState], int]:
    """Return the sessions to list, the latest first, and how many there are."""
    journal = context.journal
    if everywhere:
        states, total = journal.latest_states(most), journal.count_of_states()
    else:
        try:
            project = find_project()
        except FlowdError as error:
            hint = "list those of all projects with `flow sessions --all`"
            raise FlowdError(str(error), hint=hint) from error
        states = journal.states_of(project.root, project.repository, most)
        total = journal.count_of_states(project.root, project.repository)
    return sorted(states, key=latest_activity, reverse=True), total


def _phase(context: Context) -> Phase:
    settings = context.settings
    gone = gone_sessions(settings.claude.config_dir)
    return partial(phase_of, idle_after_s=settings.idle.after_minutes * 60, gone=gone)


def _table(states: list[SessionState], phase: Phase, *, everywhere: bool) -> list[str]:
    head = ("SESSION", "STATE", "ACTIVE", "PROJECT" if everywhere else "BRANCH", "GOAL")
    return table(
        [head, *(_row(state, phase, everywhere=everywhere) for state in states)], shrink={3: 8, 4: 16}
    )


def _row(state: SessionState, phase: Phase, *, everywhere: bool) -> tuple[str, ...]:
    return (
        state.session_id[:8],
        phase(state),
        ago(latest_activity(state)),
        home_relative(state.project or state.cwd) if everywhere else state.branch or "-",
        one_line(state.title or state.goal) or "-",
    )
