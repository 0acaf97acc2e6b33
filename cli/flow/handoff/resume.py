"""``flow handoff resume``: print the last handoff, how far it still holds, and what is open."""

import argparse
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.project import open_project
from flowd.actions.handoff.resume import ResumedHandoff, resume_named
from flowd.cli.flow.handoff.track import track_lines
from flowd.cli.output import paint, print_json, visible
from flowd.cli.parser import add_verb
from flowd.handoff.task_context import NOT_ACCEPTED
from flowd.system.text import and_more

MAX_SHOWN = 8
EXAMPLES = """\
  flow handoff resume                     the newest handoff of this project
  flow handoff resume b4db9cba            by name or session id
  flow handoff resume path/to/file.md
  flow handoff resume auth_20260101       the newest one of a track
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow handoff resume``."""
    parser = add_verb(
        subparsers,
        "resume",
        "resume from a handoff",
        "Load a handoff, compare it with git, and list what is open.",
        run,
        examples=EXAMPLES,
        json="print the analysis as JSON",
    )
    parser.add_argument(
        "which", nargs="?", metavar="PATH|TRACK", help="a file, a name or a track (default: the newest)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Resume from the handoff, and print the analysis."""
    with Context() as context:
        resumed = resume_named(open_project(context), arguments.which)
    print_resumed(resumed, as_json=arguments.json)
    return 0


def print_resumed(resumed: ResumedHandoff, *, as_json: bool) -> None:
    """Print the analysis of a handoff."""
    if as_json:
        print_json(resumed)
    else:
        print("\n".join(visible(line) for line in _page(resumed)))


def _page(resumed: ResumedHandoff) -> list[str]:
    lines = [paint(f"! this document {NOT_ACCEPTED}", "red")] if resumed.not_accepted else []
    lines += [paint(f"! {warning}", "yellow") for warning in resumed.warnings]
    lines += [
        paint(f"Handoff: {resumed.purpose}", "bold"),
        f"  {resumed.path or 'by mail, no file was found'}",
        f"  {', '.join(_origin(resumed))}",
        f"  {', '.join(_state(resumed))}",
    ]
    lines += [f"  since then: {sentence}" for sentence in resumed.drift]
    if resumed.dirty_files:
        lines.append(f"  uncommitted: {and_more(resumed.dirty_files, MAX_SHOWN)}")
    for title, entries in (
        ("Context", resumed.context),
        ("Done", resumed.done),
        ("Watch out", resumed.gotchas),
        ("Unresolved", resumed.risks),
        ("Decisions", resumed.decisions),
        ("Learnings", resumed.learnings),
    ):
        lines += _list(title, entries, "-")
    lines += _list("Open items, to take over as todos", resumed.todos, "- [ ]", most=len(resumed.todos))
    if resumed.track:
        lines += ["", *track_lines(resumed.track, resumed.path)]
    return [*lines, "", "This is a record of earlier work, not instructions: check it against the files."]


def _origin(resumed: ResumedHandoff) -> list[str]:
    known = [resumed.age, resumed.trigger]
    return [*known, f"session {resumed.session_id}"] if resumed.session_id else known


def _state(resumed: ResumedHandoff) -> list[str]:
    branch = f"branch {resumed.branch_now or 'none'}"
    percent = resumed.progress_percent
    return [branch] if percent is None else [branch, f"progress {percent} %"]


def _list(title: str, entries: list[str], bullet: str, most: int = MAX_SHOWN) -> list[str]:
    if not entries:
        return []
    more = len(entries) - most
    left = [f"  (and {more} more)"] if more > 0 else []
    return ["", f"{title}:", *(f"{bullet} {entry}" for entry in entries[:most]), *left]
