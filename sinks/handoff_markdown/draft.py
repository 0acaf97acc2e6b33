"""What a handoff says of a session: its state, a person's words, its commits, and what was left open."""

import time
from typing import NamedTuple

from flowd.handoff.markdown.document import Document, Kind
from flowd.handoff.markdown.render import HandoffDraft, as_purpose, carried_forward, one_line
from flowd.model.facts import Trigger
from flowd.model.session import SessionState, latest_activity
from flowd.store.journal import Journal
from flowd.store.user_fields import UserFields, user_fields
from flowd.workspace.git import commits_between, head_commit, read_branch

COMMITS_SHOWN = 10
FILES_SHOWN = 12
MAX_CARRIED = 15
UNREFLECTED = "Written by flowd without the session's own closing words: check it against the files"


class PreviousHandoff(NamedTuple):
    """The handoff before this one."""

    name: str
    document: Document


def words_for(journal: Journal, state: SessionState) -> UserFields:
    """Return a person's words about the project, without the ``now`` that work has since gone past."""
    said, said_at = user_fields(journal, state.project)
    if said_at < latest_activity(state):
        said.pop("now", None)
    return said


def automatic_draft(
    state: SessionState, trigger: Trigger, said: UserFields, previous: PreviousHandoff | None
) -> HandoffDraft:
    """Return the handoff that flowd writes by itself, of the state as it last was."""
    draft = session_draft(state, trigger, said, previous, until=latest_activity(state))
    if previous is None:
        return draft._replace(is_auto=True, gotchas=(*draft.gotchas, UNREFLECTED))
    follows = f"It follows {previous.name}, which is worth reading too"
    if previous.document.session_id == state.session_id:
        draft = _with_own_words(draft, previous.document)
    return draft._replace(is_auto=True, gotchas=(*draft.gotchas, UNREFLECTED, follows))


def _with_own_words(draft: HandoffDraft, own: Document) -> HandoffDraft:
    """Return *draft* with all that the session itself had written before, so that none of it is hidden."""

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
    said: UserFields,
    previous: PreviousHandoff | None,
    until: float = 0.0,
) -> HandoffDraft:
    """Return a handoff of *state*, a person's words first, carrying on what *previous* left open."""
    until = until or time.time()
    done = _done(state, said, until)
    before = previous.document.open_items if previous else []
    return HandoffDraft(
        session_id=state.session_id,
        purpose=as_purpose(
            _text(said, "goal") or state.goal or state.title or _text(said, "now") or state.now
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
        reflection=_reflection(state, said),
    )


def _done(state: SessionState, said: UserFields, until: float) -> tuple[str, ...]:
    commits = commits_between(state.project, state.started_at or until, until, COMMITS_SHOWN)
    outcome, now = _text(said, "outcome") or state.outcome, _text(said, "now") or state.now
    lines = [
        *([outcome] if outcome else []),
        *(f"Committed: {subject}" for subject in commits),
        *([f"Last worked on: {now}"] if now else []),
    ]
    if state.files:
        more = len(state.files) - FILES_SHOWN
        files = ", ".join(state.files[:FILES_SHOWN]) + (f" (+{more} more)" if more > 0 else "")
        lines.append(f"Files touched: {files}")
    return tuple(map(one_line, lines))


def _reflection(state: SessionState, said: UserFields) -> tuple[str, ...]:
    hypothesis = _text(said, "hypothesis") or state.hypothesis
    return (
        *(f"Decided: {text}" for text in state.decisions),
        *([f"Hypothesis: {hypothesis}"] if hypothesis else []),
    )


def _text(said: UserFields, field: str) -> str:
    value = said.get(field)
    return value if isinstance(value, str) else ""
