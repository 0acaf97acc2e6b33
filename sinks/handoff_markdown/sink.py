"""Automatic handoffs in ``~/.claude/handoffs``: one per session, never in the way of one that was written."""

import os
import time
from functools import partial

from flowd.config.live import LiveSettings
from flowd.handoff.markdown.directory import (
    SUFFIX,
    HandoffNameError,
    directory_name,
    encode_path,
    handoffs_dir,
    replace_file,
    text_digest,
)
from flowd.handoff.markdown.index import ParsedHandoff, parsed_handoffs, refresh_index
from flowd.handoff.markdown.render import render_draft
from flowd.model.facts import Checkpointed, Fact, HandoffIndexed
from flowd.model.session import SessionState, latest_activity
from flowd.sinks.handoff_markdown.draft import PreviousHandoff, automatic_draft, words_for
from flowd.sinks.protocol import PermanentFailureError
from flowd.store.database import Database
from flowd.store.documents import Ownership, is_own, unseen_escalations, written_fact
from flowd.store.journal import Journal

# A session that has written its handoff still says goodbye: what it does so soon after is part of it.
CLOSING_S = 300.0
FRESH_S = 7 * 86_400.0
NAMES_TRIED = 100


class HandoffMarkdownSink:
    """Writes the handoff of a session that leaves without one.

    It is dated by the session's last activity, so whatever was written after that stays the newest,
    however late or often a checkpoint is delivered.
    """

    name = "handoff_markdown"
    debounce_s = 1.0
    low_latency = False

    def __init__(self, database: Database, settings: LiveSettings) -> None:
        self._journal = Journal(database)
        self._settings = settings

    def key(self, fact: Fact) -> str | None:
        """Return the session of a checkpoint that leaves a handoff; its newest stands for all before."""
        if not isinstance(fact.body, Checkpointed) or not fact.project:
            return None
        return (
            fact.session_id if fact.body.trigger in self._settings.current.handoff_markdown.triggers else None
        )

    def accept(self, fact: Fact) -> None:
        """Write the handoff, unless one that is there already says as much or more."""
        if not isinstance(fact.body, Checkpointed) or not _is_worth_it(fact.body.state):
            return
        state = fact.body.state
        handoffs = handoffs_dir(self._settings.current.claude.config_dir)
        directory = os.path.join(handoffs, _directory_name(state.project))
        is_foreign = partial(Ownership(self._journal).is_foreign, state.project)
        shelf = parsed_handoffs(handoffs, (state.project, state.cwd or state.project), is_foreign)
        if not self._is_covered(shelf, state):
            self._write(directory, shelf, fact.body)

    def flush(self) -> None:
        """Do nothing: what was accepted is written."""

    def _is_covered(self, shelf: list[ParsedHandoff], state: SessionState) -> bool:
        if shelf and unseen_escalations(self._journal, shelf[0]):
            return True  # who looks only at the newest must go on seeing that a person is asked for
        return any(self._covers(shelved, state) for shelved in shelf)

    def _covers(self, shelved: ParsedHandoff, state: SessionState) -> bool:
        """Say whether *shelved* knows all that the session has done."""
        is_same = shelved.document.session_id == state.session_id
        if is_own(self._journal, shelved):
            return is_same and shelved.file.modified_ns >= _moment_ns(state)
        grace_s = CLOSING_S if is_same else 0.0
        return shelved.file.modified_at + grace_s >= latest_activity(state)

    def _write(self, directory: str, shelf: list[ParsedHandoff], checkpoint: Checkpointed) -> None:
        state = checkpoint.state
        path = self._own_path(directory, shelf, state)
        before = next((shelved for shelved in shelf if shelved.file.path != path), None)
        previous = PreviousHandoff(os.path.basename(before.file.path), before.document) if before else None
        words = words_for(self._journal, state)
        text = render_draft(automatic_draft(state, checkpoint.trigger, words, previous))
        digest = text_digest(text.encode("utf-8", "replace"))
        self._journal.append(written_fact(self._journal, path, digest, state))
        replace_file(path, text, modified_ns=_moment_ns(state))

    def _own_path(self, directory: str, shelf: list[ParsedHandoff], state: SessionState) -> str:
        """Return the session's own automatic file, or a free name where that was edited by someone."""
        taken = {shelved.file.path: shelved for shelved in shelf}
        stem = encode_path(state.session_id[:8]) or "session"
        for number in range(1, NAMES_TRIED):
            path = os.path.join(directory, f"{stem}-auto{f'-{number}' if number > 1 else ''}{SUFFIX}")
            if not os.path.lexists(path) or (path in taken and self._is_replaceable(taken[path], state)):
                return path
        raise PermanentFailureError(
            f"{directory} is full of handoffs named {stem}-auto", hint="move them elsewhere"
        )

    def _is_replaceable(self, shelved: ParsedHandoff, state: SessionState) -> bool:
        return shelved.document.session_id == state.session_id and is_own(self._journal, shelved)


def _is_worth_it(state: SessionState) -> bool:
    said = state.goal or state.now or state.next or state.files
    is_fresh = time.time() - latest_activity(state) < FRESH_S
    return bool(said) and is_fresh and os.path.isdir(state.project)  # noqa: PTH112 answers, never raises


def _directory_name(project: str) -> str:
    try:
        return directory_name(project)
    except HandoffNameError as error:
        raise PermanentFailureError(str(error), hint=error.hint) from error


def _moment_ns(state: SessionState) -> int:
    return min(int(latest_activity(state) * 1e9), time.time_ns())


class HandoffIndexSink:
    """Writes one table per handoff directory; nothing is held, for the directory itself says all."""

    name = "handoff_index"
    debounce_s = 2.0
    low_latency = False

    def key(self, fact: Fact) -> str | None:
        """Return the directory: one look at it stands for every change before."""
        return os.path.dirname(fact.body.path) if isinstance(fact.body, HandoffIndexed) else None

    def accept(self, fact: Fact) -> None:
        """Bring the index of the directory up to date, unless the directory has gone."""
        directory = self.key(fact)
        if directory and os.path.isdir(directory):  # noqa: PTH112 answers, never raises
            refresh_index(directory)

    def flush(self) -> None:
        """Do nothing: what was accepted is written."""
