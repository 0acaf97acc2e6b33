"""Checkpoints: one snapshot with one id for each moment worth keeping, however often it is announced."""

import hashlib
import time

import msgspec

from flowd.daemon.pipeline import Pipeline
from flowd.daemon.places import Places
from flowd.extractors.text import cut_at_sentence, plain
from flowd.handoff.redaction import redact
from flowd.store.facts import Checkpointed, Compacted, Fact, SessionState, Trigger
from flowd.store.journal import Batch

MESSAGE_CHARACTERS = 4000
NOW_CHARACTERS = 200
MANUAL_WINDOW_S = 5


class Checkpointer:
    """Makes checkpoint facts. The key names the moment, so that hook and transcript together make one."""

    def __init__(self, pipeline: Pipeline, places: Places) -> None:
        self._pipeline = pipeline
        self._places = places

    def make(
        self, session_id: str, trigger: Trigger, batch: Batch, *, message: str = "", cwd: str = ""
    ) -> None:
        """Add the checkpoint of the session's present state to *batch*."""
        message = redact(message)[:MESSAGE_CHARACTERS]
        if self._pipeline.knows(session_id):
            state = self._pipeline.state(session_id)
        else:
            state = self._bare_state(session_id, cwd, message)
        batch.facts.append(checkpoint_fact(state, trigger, moment(trigger, state), message))

    def make_missed(self, batch: Batch, since: float) -> None:
        """Add a precompact checkpoint for each compaction in *batch* after *since*.

        The number of compactions before it is the key of one, so where a hook was there first, it
        is the same checkpoint.
        """
        compacted = [fact for fact in batch.facts if isinstance(fact.body, Compacted) and fact.at > since]
        left = {fact.session_id: 0 for fact in compacted}
        for fact in reversed(compacted):
            left[fact.session_id] += 1
            state = self._pipeline.state(fact.session_id)
            index = state.compactions - left[fact.session_id]
            batch.missed.append(checkpoint_fact(state, "precompact", f"precompact:{index}", ""))

    def _bare_state(self, session_id: str, cwd: str, message: str) -> SessionState:
        """Return what can be said of a session whose transcript is not there: late, or never written."""
        place, now = self._places.of(cwd, cwd), time.time()
        return SessionState(
            session_id=session_id,
            project=place.root,
            repository=place.repository,
            worktree=place.worktree,
            cwd=cwd,
            last_activity_at=now,
            touched_at=now,
            now=cut_at_sentence(plain(message), NOW_CHARACTERS),
        )


def checkpoint_fact(state: SessionState, trigger: Trigger, at_moment: str, message: str) -> Fact:
    """Return the fact of one checkpoint; the same session and moment give the same id."""
    key = f"{state.session_id}:checkpoint:{at_moment}"
    identity = "cp_" + hashlib.blake2b(key.encode(), digest_size=10).hexdigest()
    body = Checkpointed(identity, trigger, state, message)
    return Fact(key, state.session_id, state.project, time.time(), body)


def moment(trigger: Trigger, state: SessionState) -> str:
    """Return what makes one checkpoint differ from the next of its kind."""
    if trigger == "precompact":
        return f"precompact:{state.compactions}"
    if trigger in ("idle", "session-end"):
        return f"{trigger}:{state.last_activity_at}"
    if trigger == "manual":
        return f"manual:{_digest(state)}:{int(time.time() // MANUAL_WINDOW_S)}"
    return f"{trigger}:{_digest(state)}"


def _digest(state: SessionState) -> str:
    """Return a digest of what the state says, leaving out when it was said."""
    said = msgspec.structs.replace(state, last_activity_at=0, touched_at=0, records=0)
    return hashlib.blake2b(msgspec.json.encode(said), digest_size=8).hexdigest()
