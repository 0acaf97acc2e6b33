"""Checkpoints: one snapshot with one id for each moment worth keeping, however often it is announced."""

import time

from flowd.daemon.projects.conductors import TrackEvent
from flowd.daemon.projects.resolver import ProjectResolver
from flowd.daemon.reading.pipeline import Pipeline
from flowd.extractors.text import cut_at_sentence, plain
from flowd.model.checkpoints import checkpoint_fact, moment
from flowd.model.facts import Compacted, Fact, SessionEnded, Trigger, WentIdle
from flowd.model.hook_input import HookInput
from flowd.model.session import SessionState
from flowd.redaction.redactor import redact
from flowd.store.idle import Pause
from flowd.store.journal import Batch, Journal

MESSAGE_CHARACTERS = 4000
NOW_CHARACTERS = 200


class Checkpointer:
    """Makes checkpoint facts. The key names the moment, so that hook and transcript together make one."""

    def __init__(self, pipeline: Pipeline, places: ProjectResolver) -> None:
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


HOOK_TRIGGERS: dict[str, Trigger] = {"PreCompact": "precompact", "Stop": "stop", "SessionEnd": "session-end"}


class Moments:
    """Keeps each moment once, whoever announces it first."""

    def __init__(self, pipeline: Pipeline, checkpointer: Checkpointer, journal: Journal) -> None:
        self._pipeline = pipeline
        self._checkpointer = checkpointer
        self._journal = journal

    def hook(self, hook: HookInput, batch: Batch) -> None:
        """Add what *hook* announces to *batch*."""
        if hook.hook_event_name == "SessionEnd":
            at = hook.at or time.time()
            self._pipeline.end(hook.session_id, at)
            key = f"{hook.session_id}:ended:{at}"
            batch.facts.append(Fact(key, hook.session_id, "", at, SessionEnded(hook.reason)))
        trigger = HOOK_TRIGGERS.get(hook.hook_event_name)
        if trigger is not None:
            self._checkpointer.make(
                hook.session_id,
                trigger,
                batch,
                message=hook.last_assistant_message,
                cwd=hook.cwd,
                compactions_since=self._compactions_since(hook, batch) if trigger == "precompact" else 0,
            )

    def idle(self, pause: Pause, batch: Batch) -> None:
        """Add to *batch* that a session has gone idle."""
        now = time.time()
        minutes = int((now - pause.last_activity_at) // 60)
        key = f"{pause.session_id}:idle:{pause.last_activity_at}"
        batch.facts.append(Fact(key, pause.session_id, pause.project, now, WentIdle(minutes)))
        self._checkpointer.make(pause.session_id, "idle", batch)

    def conductor(self, session_id: str, seen: TrackEvent, batch: Batch) -> None:
        """Add to *batch* what the conductor of the session's project did."""
        self._checkpointer.make(
            session_id, seen.trigger, batch, track=seen.track, epic=seen.epic, cwd=seen.root
        )

    def _compactions_since(self, hook: HookInput, batch: Batch) -> int:
        """Return how many compactions the transcript tells of after *hook* was fired: it may come late."""
        known = [*self._journal.facts_of_session(hook.session_id, "compacted"), *batch.facts]
        keys = {
            fact.key
            for fact in known
            if isinstance(fact.body, Compacted) and fact.session_id == hook.session_id and fact.at > hook.at
        }
        return len(keys) if hook.at else 0
