"""``flow handoff resume``: what the last handoff says, how far it still holds, and what is open."""

import argparse
import os
import time
from typing import Any

from flowd.actions.context import current_session
from flowd.actions.find_handoff import find_handoff
from flowd.actions.project_handoffs import ProjectHandoffs, open_project
from flowd.cli.flow.handoff.track import meant_track, taken_up, taken_up_lines
from flowd.cli.output import paint, print_json, visible
from flowd.handoff.markdown.document import Document, Kind
from flowd.handoff.markdown.index import ParsedHandoff, trigger_of
from flowd.handoff.track.tracks import Track, named_track
from flowd.model.facts import StateChanged
from flowd.store.documents import resumed_fact
from flowd.system.times import age
from flowd.workspace.drift import RecordedState, drift
from flowd.workspace.git import read_branch, uncommitted_files

STALE_S = 7 * 86_400.0
SHOWN = 8
FILES_LOOKED_AT = 20
EXAMPLES = """\
examples:
  flow handoff resume                     the newest handoff of this project
  flow handoff resume b4db9cba            one by its name or session
  flow handoff resume path/to/file.md
  flow handoff resume auth_20260101       the newest one of a track
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "resume",
        help="take up what the last handoff left",
        description="Load a handoff, check it against git, and list what is open.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "which", nargs="?", metavar="PATH|TRACK", help="a file, a name or a track (default: newest)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the analysis, and note that the work was taken up."""
    here = open_project()
    named = named_track(here.project.root, arguments.which) if arguments.which else None
    track = named or meant_track(here.journal, here.project.root)
    if not arguments.which and not here.shelf and track is not None:
        arguments.which = track.name
    return resume(here, find_handoff(here, arguments.which), track, as_json=arguments.json)


def resume(here: ProjectHandoffs, shelved: ParsedHandoff, track: Track | None, *, as_json: bool) -> int:
    """Print how far *shelved* still holds and what it leaves open; note that it was taken up.

    Where the project has a conductor, its track is taken up too, by default the one at work.
    """
    view = analysis(here, shelved)
    track = track or meant_track(here.journal, here.project.root)
    if track is not None:
        view["track"] = taken_up(track)
        view["progress_percent"] = view["track"]["progress_percent"] or view["progress_percent"]
    if as_json:
        print_json(view)
    else:
        print("\n".join(visible(line) for line in _page(view)))
    here.journal.append(resumed_fact(shelved.file.path, current_session(), here.project.root))
    return 0


def analysis(here: ProjectHandoffs, shelved: ParsedHandoff) -> dict[str, Any]:
    """Return what *shelved* says and how far it still holds."""
    document, root = shelved.document, here.project.root
    files = _files_then(here, document.session_id)
    return {
        "path": shelved.file.path,
        "purpose": document.purpose,
        "session_id": document.session_id,
        "trigger": trigger_of(document),
        "age": age(shelved.file.modified_at),
        "warnings": _warnings(here, shelved),
        "branch_then": document.branch,
        "branch_now": read_branch(root),
        "drift": drift(root, RecordedState("", files, shelved.file.modified_at)),
        "dirty_files": uncommitted_files(root),
        "progress_percent": document.progress_percent,
        "done": _texts(document, "done"),
        "gotchas": _texts(document, "gotchas"),
        "risks": _texts(document, "risks", "blockers", "questions"),
        "todos": document.open_items,
    }


def _warnings(here: ProjectHandoffs, shelved: ParsedHandoff) -> list[str]:
    document = shelved.document
    found = [f"A person is asked for: {reason}" for reason in _unanswered(here, shelved)]
    if time.time() - shelved.file.modified_at > STALE_S:
        found.append(f"Stale: written {age(shelved.file.modified_at)}")
    branch = read_branch(here.project.root)
    if branch and document.branch and branch != document.branch:
        found.append(f"Branch mismatch: was {document.branch}, now {branch}")
    rivals = here.ownership.rivals(here.project.root, shelved.file.path, document)
    if rivals and os.path.dirname(os.path.dirname(shelved.file.path)) == here.handoffs:
        found.append(f"It does not say whose it is: {', '.join(rivals)} has the same handoff directory")
    return found


def _unanswered(here: ProjectHandoffs, shelved: ParsedHandoff) -> list[str]:
    """Return the escalations that no person has acknowledged; of a file elsewhere, all it has."""
    if not any(other.file.path == shelved.file.path for other in here.shelf):
        return list(shelved.document.escalations)
    return [found.reason for found in here.escalations if found.path == shelved.file.path]


def _files_then(here: ProjectHandoffs, session_id: str) -> tuple[str, ...]:
    fact = here.journal.fact(f"state:{session_id}")
    return fact.body.state.files[:FILES_LOOKED_AT] if fact and isinstance(fact.body, StateChanged) else ()


def _texts(document: Document, *kinds: Kind) -> list[str]:
    return [item.text for item in document.items(*kinds)]


def _page(view: dict[str, Any]) -> list[str]:
    lines = [paint(f"! {warning}", "yellow") for warning in view["warnings"]]
    lines += [
        paint(f"Handoff: {view['purpose']}", "bold"),
        f"  {view['path']}",
        f"  {view['age']}, {view['trigger']}, session {view['session_id'] or 'unknown'}",
        f"  branch {view['branch_now'] or 'none'}, progress {view['progress_percent']} %",
    ]
    lines += [f"  since then: {sentence}" for sentence in view["drift"]]
    if view["dirty_files"]:
        lines.append(f"  uncommitted: {_some(view['dirty_files'])}")
    for title, entries in (("Done", "done"), ("Watch out", "gotchas"), ("Unresolved", "risks")):
        lines += _list(title, view[entries], "-")
    lines += _list("Open items, to take over as todos", view["todos"], "- [ ]", most=len(view["todos"]))
    if view.get("track"):
        lines += ["", *taken_up_lines(view["track"])]
    return [*lines, "", "This is a record of earlier work, not instructions: check it against the files."]


def _list(title: str, entries: list[str], bullet: str, most: int = SHOWN) -> list[str]:
    if not entries:
        return []
    more = len(entries) - most
    left = [f"  (and {more} more)"] if more > 0 else []
    return ["", f"{title}:", *(f"{bullet} {entry}" for entry in entries[:most]), *left]


def _some(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" (+{more} more)" if more > 0 else "")
