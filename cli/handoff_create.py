"""``flow handoff create``: the handoff of this session, written for the next one."""

import argparse
import os
import sys
import time
from typing import Any, get_args

import msgspec

from flowd.cli.git_state import uncommitted_files
from flowd.cli.handoff_shelf import Here, look_here, take_in_file
from flowd.cli.json_output import print_json
from flowd.cli.local_store import poke_daemon
from flowd.handoff.contract_files import add_file
from flowd.handoff.contract_shelf import refresh_index
from flowd.handoff.contract_text import Draft, render_draft
from flowd.handoff.encoding import encode_path
from flowd.handoff.git_files import read_branch
from flowd.store.checkpoints import checkpoint_fact, moment
from flowd.store.facts import SessionState, Trigger
from flowd.store.handoff_draft import Previous, session_draft, words_for

SECTIONS = {
    "done": "something that was accomplished",
    "next": "something that should happen next",
    "gotcha": "a surprise or a trap",
    "risk": "an unresolved concern",
    "reflection": "something learned",
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
    parser.add_argument("--json", action="store_true", help="print path, purpose and open items as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write it, and say where."""
    here = look_here()
    return create(here, _with_words(draft_of(here, arguments.trigger), arguments), as_json=arguments.json)


def create(here: Here, draft: Draft, *, as_json: bool) -> int:
    """Write *draft*, and say where; a signal that it would hide from who looks at the newest is said too."""
    for found in here.escalations:
        print(f"flow: {found.path} still asks for a person: {found.reason}", file=sys.stderr)
    path = write(here, draft)
    if as_json:
        print_json({"path": path, "purpose": draft.purpose, "open_items": list(draft.next)})
    else:
        print(f"handoff written to {path}")
    return 0


def write(here: Here, draft: Draft) -> str:
    """Put the handoff, its index and its facts in place; return the path."""
    path = add_file(here.directory, _stem(draft.session_id), render_draft(draft))
    take_in_file(here, path)
    refresh_index(here.directory)
    poke_daemon()
    return path


def draft_of(here: Here, trigger: Trigger) -> Draft:
    """Return the draft of the present state, which is kept as a checkpoint too."""
    root = here.project.root
    state = msgspec.structs.replace(here.state(), project=root)
    here.journal.append(checkpoint_fact(state, trigger, moment(trigger, state), ""))
    newest = here.shelf[0] if here.shelf else None
    previous = Previous(os.path.basename(newest.file.path), newest.document) if newest else None
    state = msgspec.structs.replace(state, files=state.files or tuple(uncommitted_files(root)))
    draft = session_draft(state, trigger, words_for(here.journal, state), previous)
    return draft._replace(branch=read_branch(root) or draft.branch, session_id=_session_name(state))


def _with_words(draft: Draft, arguments: argparse.Namespace) -> Draft:
    return draft._replace(
        purpose=arguments.purpose or draft.purpose,
        done=(*arguments.done, *draft.done),
        next=(*arguments.next, *draft.next),
        gotchas=(*arguments.gotcha, *draft.gotchas),
        risks=(*arguments.risk, *draft.risks),
        reflection=(*arguments.reflection, *draft.reflection),
    )


def _session_name(state: SessionState) -> str:
    return state.session_id or time.strftime("person-%Y-%m-%d-%H%M")


def _stem(session_id: str) -> str:
    return encode_path(session_id if session_id.startswith("person-") else session_id[:8])
