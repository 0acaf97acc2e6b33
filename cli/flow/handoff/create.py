"""``flow handoff create``: the handoff of this session, written for the next one."""

import argparse
import os
import sys
import time
from typing import Any, NamedTuple, get_args

import msgspec

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.project_handoffs import ProjectHandoffs, index_file, open_project
from flowd.cli.flow.handoff.track import create_in_track, created_lines, created_view, meant_track
from flowd.cli.output import print_json, visible
from flowd.handoff.markdown.directory import add_file, encode_path
from flowd.handoff.markdown.index import refresh_index
from flowd.handoff.markdown.render import HandoffDraft, render_draft
from flowd.model.checkpoints import checkpoint_fact, moment
from flowd.model.facts import Fact, Trigger
from flowd.model.session import SessionState
from flowd.redaction.redactor import redact
from flowd.sinks.handoff_markdown.draft import PreviousHandoff, session_draft, words_for
from flowd.workspace.git import read_branch, uncommitted_files

SECTIONS = {
    "done": "something that was accomplished",
    "next": "something that should happen next",
    "gotcha": "a surprise or a trap",
    "risk": "an unresolved concern",
    "reflection": "something learned",
}
SECTION_FIELDS = {
    "done": "done",
    "next": "next",
    "gotcha": "gotchas",
    "risk": "risks",
    "reflection": "reflection",
}
EXAMPLES = """\
examples:
  flow handoff create
  flow handoff create --purpose "Login: tokens done" --next "Write the cookie tests"
  flow handoff create --trigger epic-end --json
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "create",
        help="write a handoff for the next session",
        description="Write a handoff from the session's state, your words, and what the last one left open.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--trigger", choices=get_args(Trigger), default="manual", help="why (default manual)")
    parser.add_argument("--purpose", default="", metavar="TEXT", help="what this is about, in one line")
    for name, about in SECTIONS.items():
        parser.add_argument(
            f"--{name}", action="append", default=[], metavar="TEXT", help=f"{about}; repeatable"
        )
    parser.add_argument("--track", default="", help="the conductor's track (default: the one at work)")
    parser.add_argument("--epic", default="", help="the epic that begins or ends, such as E1")
    parser.add_argument("--json", action="store_true", help="print path, purpose and open items as JSON")
    parser.set_defaults(run=run)


class CreateOptions(NamedTuple):
    """What is to be written: why, of which track and epic, and a person's words."""

    trigger: Trigger = "manual"
    track: str = ""
    epic: str = ""
    purpose: str = ""
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    reflection: tuple[str, ...] = ()


def run(arguments: argparse.Namespace) -> int:
    """Write it, and say where."""
    given = {name: tuple(map(redact, getattr(arguments, word))) for word, name in SECTION_FIELDS.items()}
    wanted = CreateOptions(
        arguments.trigger, arguments.track, arguments.epic, redact(arguments.purpose), **given
    )
    return create(open_project(), wanted, as_json=arguments.json)


def create(here: ProjectHandoffs, wanted: CreateOptions, *, as_json: bool) -> int:
    """Write what is wanted, and say where; a signal that it would hide from the newest is said too."""
    for found in here.escalations:
        print(f"flow: {found.path} still asks for a person: {found.reason}", file=sys.stderr)
    track = meant_track(here.journal, here.project.root, wanted.track)
    fact = checkpoint_of(here, wanted, track.name if track else "")
    created = create_in_track(track, fact)
    if created is not None and created.is_cancelled:
        print("\n".join(created_lines(created)), file=sys.stderr)
        return 1
    here.journal.append(fact)
    draft = _with_words(draft_of(here, wanted.trigger), wanted)
    path = write(here, draft)
    if as_json:
        view: dict[str, Any] = {"path": path, "purpose": draft.purpose, "open_items": list(draft.next)}
        print_json(view | ({"track": created_view(created)} if created else {}))
    else:
        lines = [f"handoff written to {path}", *(created_lines(created) if created else [])]
        print("\n".join(map(visible, lines)))
    return 0


def write(here: ProjectHandoffs, draft: HandoffDraft) -> str:
    """Put the handoff, its index and its facts in place; return the path."""
    path = add_file(here.directory, _stem(draft.session_id), render_draft(draft))
    index_file(here, path)
    refresh_index(here.directory)
    poke_daemon()
    return path


def checkpoint_of(here: ProjectHandoffs, wanted: CreateOptions, track: str) -> Fact:
    """Return the checkpoint of the present state, a person's words first."""
    state = msgspec.structs.replace(here.state(), project=here.project.root)
    told = msgspec.structs.replace(
        state,
        goal=wanted.purpose or state.goal,
        outcome="; ".join(wanted.done) or state.outcome,
        next=(*wanted.next, *state.next),
        learnings=(*wanted.gotchas, *wanted.reflection, *state.learnings),
        blockers=(*wanted.risks, *state.blockers),
        files=state.files or tuple(uncommitted_files(here.project.root)),
    )
    at_moment = moment(wanted.trigger, state)
    if wanted.epic:
        at_moment = f"{wanted.trigger}:{track}:{wanted.epic}:{time.time()}"
    return checkpoint_fact(told, wanted.trigger, at_moment, "", track=track, epic=wanted.epic)


def draft_of(here: ProjectHandoffs, trigger: Trigger) -> HandoffDraft:
    """Return the draft of the present state."""
    root = here.project.root
    state = msgspec.structs.replace(here.state(), project=root)
    newest = here.shelf[0] if here.shelf else None
    previous = PreviousHandoff(os.path.basename(newest.file.path), newest.document) if newest else None
    state = msgspec.structs.replace(state, files=state.files or tuple(uncommitted_files(root)))
    draft = session_draft(state, trigger, words_for(here.journal, state), previous)
    return draft._replace(branch=read_branch(root) or draft.branch, session_id=_session_name(state))


def _with_words(draft: HandoffDraft, wanted: CreateOptions) -> HandoffDraft:
    return draft._replace(
        purpose=wanted.purpose or draft.purpose,
        done=(*wanted.done, *draft.done),
        next=(*wanted.next, *draft.next),
        gotchas=(*wanted.gotchas, *draft.gotchas),
        risks=(*wanted.risks, *draft.risks),
        reflection=(*wanted.reflection, *draft.reflection),
    )


def _session_name(state: SessionState) -> str:
    return state.session_id or time.strftime("person-%Y-%m-%d-%H%M")


def _stem(session_id: str) -> str:
    return encode_path(session_id if session_id.startswith("person-") else session_id[:8])
