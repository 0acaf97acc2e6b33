"""Checkpoints: one snapshot with one id for each moment worth keeping, however often it is announced."""

import time

from flowd.daemon.pipeline import Pipeline
from flowd.daemon.places import Places
from flowd.extractors.text import cut_at_sentence, plain
from flowd.handoff.redaction import redact
from flowd.store.checkpoints import checkpoint_fact, moment
from flowd.store.facts import Compacted, SessionState, Trigger
from flowd.store.journal import Batch

MESSAGE_CHARACTERS = 4000
NOW_CHARACTERS = 200


class Checkpointer:
    """Makes checkpoint facts. The key names the moment, so that hook and transcript together make one."""

    def __init__(self, pipeline: Pipeline, places: Places) -> None:
        self._pipeline = pipeline
        self._places = places

    def make(
        self,
        session_id: str,
        trigger: Trigger,
        batch: Batch,
        *,
        message: str = "",
        cwd: str = "",
        compactions_since: int = 0,
        track: str = "",
        epic: str = "",
    ) -> None:
        """Add the checkpoint of the session's present state to *batch*.

        Of a *track*'s design and of each *epic* there is one of a kind.
        A precompact that comes late stands for the compaction before the *compactions_since*; where
        the transcript has already made that one, it stays.
        """
        message = redact(message)[:MESSAGE_CHARACTERS]
        if self._pipeline.knows(session_id):
            state = self._pipeline.state(session_id)
        else:
            state = self._bare_state(session_id, cwd, message)
        if compactions_since:
            index = state.compactions - compactions_since
            batch.missed.append(checkpoint_fact(state, trigger, f"precompact:{index}", message))
        else:
            at_moment = f"{trigger}:{track}:{epic}" if track else moment(trigger, state)
            fact = checkpoint_fact(state, trigger, at_moment, message, track=track, epic=epic)
            batch.facts.append(fact)

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
