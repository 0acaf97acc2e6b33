"""Handoff documents: draft one from a checkpoint, and write it into the project's handoff directory."""

import os
import time
from functools import partial
from typing import NamedTuple

from flowd.config.settings import LiveSettings
from flowd.handoff.markdown.directory import (
    SUFFIX,
    HandoffNameError,
    directory_name,
    encode_path,
    handoffs_dir,
    replace_file,
    text_digest,
)
from flowd.handoff.markdown.document import Document, Kind
from flowd.handoff.markdown.index import ParsedHandoff, parsed_handoffs, refresh_index
from flowd.handoff.markdown.render import HandoffDraft, as_purpose, carried_forward, one_line, render_draft
from flowd.model.facts import Checkpointed, Fact, HandoffIndexed, Trigger
from flowd.model.session import SessionState, latest_activity
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.redaction.redactor import redact
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.documents import Ownership, is_own, unseen_escalations, written_fact
from flowd.store.handoff_fields import UserFields, user_fields
from flowd.store.journal import Journal
from flowd.system.text import and_more
from flowd.workspace.git import commits_between, head_commit, read_branch

MAX_COMMITS = 10
MAX_FILES = 12
MAX_CARRIED = 15
UNREFLECTED = "Written by flowd without the session's own closing words: check it against the files"
# Activity this soon after the session wrote its own handoff belongs to it.
GRACE_S = 300.0
FRESH_S = 7 * 86_400.0
MAX_NAMES = 100


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
        *([f"Last worked on: {now}"] if now and now != outcome else []),
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


class HandoffMarkdownSink:
    """Writes the handoff of a session that ended without one.

    The file is dated by the session's last activity: a handoff written after that stays the newest,
    however late or often a checkpoint is delivered.
    """

    name = "handoff_markdown"
    debounce_s = 1.0
    low_latency = False

    def __init__(self, database: Database, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._redact = redact or LiveRedactor(settings)
        self._journal = Journal(database)
        self._settings = settings

    def key(self, fact: Fact) -> str | None:
        """Return the session of a checkpoint with a configured trigger; its newest replaces all before."""
        if not isinstance(fact.body, Checkpointed) or not fact.project or fact.body.is_visitor:
            return None
        return (
            fact.session_id if fact.body.trigger in self._settings.current.handoff_markdown.triggers else None
        )

    def accept(self, fact: Fact) -> None:
        """Write the handoff unless an existing one covers the session."""
        if not isinstance(fact.body, Checkpointed) or not _has_content(fact.body.state):
            return
        state = fact.body.state
        handoffs = handoffs_dir(self._settings.current.claude.config_dir)
        directory = os.path.join(handoffs, _directory_name(state.project))
        is_foreign = partial(Ownership(self._journal).is_foreign, state.project)
        present = parsed_handoffs(handoffs, (state.project, state.cwd or state.project), is_foreign)
        if not self._is_covered(present, state):
            self._write(directory, present, fact.body)

    def flush(self) -> None:
        """Do nothing: ``accept`` has written the file."""

    def _is_covered(self, present: list[ParsedHandoff], state: SessionState) -> bool:
        if present and unseen_escalations(self._journal, present[0], self._redact):
            return True  # the newest handoff must keep showing its escalation
        return any(self._covers(existing, state) for existing in present)

    def _covers(self, existing: ParsedHandoff, state: SessionState) -> bool:
        """Return True if *existing* is as new as the session's last activity."""
        is_same = existing.document.session_id == state.session_id
        if is_own(self._journal, existing):
            return is_same and existing.file.modified_ns >= _activity_ns(state)
        grace_s = GRACE_S if is_same else 0.0
        return existing.file.modified_at + grace_s >= latest_activity(state)

    def _write(self, directory: str, present: list[ParsedHandoff], checkpoint: Checkpointed) -> None:
        state = checkpoint.state
        path = self._own_path(directory, present, state)
        before = next((existing for existing in present if existing.file.path != path), None)
        previous = PreviousHandoff(os.path.basename(before.file.path), before.document) if before else None
        words = words_for(self._journal, state)
        draft = automatic_draft(state, checkpoint.trigger, words, previous)
        text = render_draft(draft, self._redact)
        digest = text_digest(text.encode("utf-8", "replace"))
        self._journal.append(written_fact(self._journal, path, digest, state))
        replace_file(path, text, modified_ns=_activity_ns(state))

    def _own_path(self, directory: str, present: list[ParsedHandoff], state: SessionState) -> str:
        """Return the session's automatic file, or a free name if it was edited since."""
        taken = {existing.file.path: existing for existing in present}
        stem = encode_path(state.session_id[:8]) or "session"
        for number in range(1, MAX_NAMES):
            path = os.path.join(directory, f"{stem}-auto{f'-{number}' if number > 1 else ''}{SUFFIX}")
            if not os.path.lexists(path) or (path in taken and self._is_replaceable(taken[path], state)):
                return path
        raise PermanentFailureError(
            f"{directory} has too many handoffs named {stem}-auto", hint="move them to another directory"
        )

    def _is_replaceable(self, existing: ParsedHandoff, state: SessionState) -> bool:
        return existing.document.session_id == state.session_id and is_own(self._journal, existing)


def _has_content(state: SessionState) -> bool:
    content = state.goal or state.now or state.next or state.files
    is_fresh = time.time() - latest_activity(state) < FRESH_S
    return bool(content) and is_fresh and os.path.isdir(state.project)  # noqa: PTH112 answers, never raises


def _directory_name(project: str) -> str:
    try:
        return directory_name(project)
    except HandoffNameError as error:
        raise PermanentFailureError(str(error), hint=error.hint) from error


def _activity_ns(state: SessionState) -> int:
    return min(int(latest_activity(state) * 1e9), time.time_ns())


class HandoffIndexSink:
    """Writes the index of each handoff directory from the files in it."""

    name = "handoff_index"
    debounce_s = 2.0
    low_latency = False

    def __init__(self, redact: Redact = redact) -> None:
        self._redact = redact

    def key(self, fact: Fact) -> str | None:
        """Return the directory: one index covers all changes before it."""
        return os.path.dirname(fact.body.path) if isinstance(fact.body, HandoffIndexed) else None

    def accept(self, fact: Fact) -> None:
        """Update the index of the directory if it still exists."""
        directory = self.key(fact)
        if directory and os.path.isdir(directory):  # noqa: PTH112 answers, never raises
            refresh_index(directory, self._redact)

    def flush(self) -> None:
        """Do nothing: ``accept`` has written the file."""
