"""The draft of a session's handoff: its state, the user's fields, its commits, and open items."""

import time
from typing import NamedTuple

from flowd.handoff.markdown.document import Document, Kind
from flowd.handoff.markdown.render import HandoffDraft, as_purpose, carried_forward, one_line
from flowd.model.facts import Trigger
from flowd.model.session import SessionState, latest_activity
from flowd.store.handoff_fields import UserFields, user_fields
from flowd.store.journal import Journal
from flowd.system.text import and_more
from flowd.workspace.git import commits_between, head_commit, read_branch

MAX_COMMITS = 10
MAX_FILES = 12
MAX_CARRIED = 15
UNREFLECTED = "Written by flowd without the session's own closing words: check it against the files"


class PreviousHandoff(NamedTuple):
    """The name and content of the handoff before this one."""

    name: str
    document: Document


def words_for(journal: Journal, state: SessionState) -> UserFields:
    """Return the user's fields of the project, without a ``now`` that is older than the last activity."""
    fields, saved_at = user_fields(journal, state.project)
    if saved_at < latest_activity(state):
        fields.pop("now", None)
    return fields


def automatic_draft(
    state: SessionState, trigger: Trigger, fields: UserFields, previous: PreviousHandoff | None
) -> HandoffDraft:
    """Return the draft of an automatic handoff, dated by the last activity."""
    draft = session_draft(state, trigger, fields, previous, until=latest_activity(state))
    if previous is None:
        return draft._replace(is_auto=True, gotchas=(*draft.gotchas, UNREFLECTED))
    follows = f"It follows {previous.name}, which is worth reading too"
    if previous.document.session_id == state.session_id:
        draft = _with_own_items(draft, previous.document)
    return draft._replace(is_auto=True, gotchas=(*draft.gotchas, UNREFLECTED, follows))


def _with_own_items(draft: HandoffDraft, own: Document) -> HandoffDraft:
    """Return *draft* with the items of the session's own earlier handoff, so that none is lost."""

    def joined(kind: Kind, entries: tuple[str, ...]) -> tuple[str, ...]:
        before = [item.text for item in own.items(kind)]
        return tuple(dict.fromkeys([*before, *entries]))

    return draft._replace(
        done=joined("done", draft.done),
        gotchas=joined("gotchas", draft.gotchas),
        risks=joined("risks", draft.risks),
        reflection=joined("reflection", draft.reflection),
    )


def session_draft(
    state: SessionState,
    trigger: Trigger,
    fields: UserFields,
    previous: PreviousHandoff | None,
    until: float = 0.0,
) -> HandoffDraft:
    """Return the draft of *state*; the user's fields override it, open items of *previous* are kept."""
    until = until or time.time()
    done = _done(state, fields, until)
    before = previous.document.open_items if previous else []
    return HandoffDraft(
        session_id=state.session_id,
        purpose=as_purpose(
            _text(fields, "goal") or state.goal or state.title or _text(fields, "now") or state.now
        ),
        trigger=trigger,
        project=state.project,
        at=until,
        branch=state.branch or read_branch(state.project),
        commit=head_commit(state.project),
        done=done,
        next=(*state.next, *carried_forward(before, state.next, done, MAX_CARRIED)),
        gotchas=state.learnings,
        risks=(
            *(f"Blocked: {text}" for text in state.blockers),
            *(f"Open: {text}" for text in state.questions),
        ),
        reflection=_reflection(state, fields),
    )


def _done(state: SessionState, fields: UserFields, until: float) -> tuple[str, ...]:
    commits = commits_between(state.project, state.started_at or until, until, MAX_COMMITS)
    outcome, now = _text(fields, "outcome") or state.outcome, _text(fields, "now") or state.now
    lines = [
        *([outcome] if outcome else []),
        *(f"Committed: {subject}" for subject in commits),
        *([f"Last worked on: {now}"] if now else []),
    ]
    if state.files:
        lines.append(f"Files touched: {and_more(state.files, MAX_FILES)}")
    return tuple(map(one_line, lines))


def _reflection(state: SessionState, fields: UserFields) -> tuple[str, ...]:
    hypothesis = _text(fields, "hypothesis") or state.hypothesis
    return (
        *(f"Decided: {text}" for text in state.decisions),
        *([f"Hypothesis: {hypothesis}"] if hypothesis else []),
    )


def _text(fields: UserFields, field: str) -> str:
    value = fields.get(field)
    return value if isinstance(value, str) else ""
