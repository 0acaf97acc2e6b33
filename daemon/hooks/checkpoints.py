"""Record checkpoints: one snapshot per event, however often and by whomever the event is reported."""

import time

import msgspec

from flowd.daemon.reading.pipeline import Pipeline
from flowd.model.checkpoints import checkpoint_event, checkpoint_fact
from flowd.model.client import HookInput
from flowd.model.facts import Compacted, Fact, SessionEnded, Trigger, WentIdle
from flowd.redaction.live import LiveRedactor
from flowd.store.journal import Batch, Journal
from flowd.store.sessions import Pause

MAX_MESSAGE_CHARACTERS = 4000
HOOK_TRIGGERS: dict[str, Trigger] = {"PreCompact": "precompact", "Stop": "stop", "SessionEnd": "session-end"}


class CheckpointRequest(msgspec.Struct, frozen=True):
    """Ask for a checkpoint of a session.

    ``fired_at`` is when the event happened, 0 for now. ``track`` and ``epic`` identify an event of the
    conductor.
    """

    session_id: str
    trigger: Trigger
    message: str = ""
    fired_at: float = 0.0
    track: str = ""
    epic: str = ""


class CheckpointRecorder:
    """Adds checkpoint facts to a batch. The key names the event: hook and transcript together make one."""

    def __init__(self, pipeline: Pipeline, journal: Journal, redact: LiveRedactor) -> None:
        self._pipeline = pipeline
        self._redact = redact
        self._journal = journal
        self.missed_since = 0.0

    def record(self, request: CheckpointRequest, batch: Batch) -> None:
        """Add a checkpoint of the session's current state to *batch*; of a session it does not know, none."""
        if not self._pipeline.knows(request.session_id):
            return
        state = self._pipeline.state(request.session_id)
        message = self._redact.of(state.project)(request.message)[:MAX_MESSAGE_CHARACTERS]
        later = self._compactions_after(request, batch)
        if later:  # a late PreCompact: keep the checkpoint that the transcript has already made
            event = f"precompact:{state.compactions - later}"
            fact = checkpoint_fact(state, request.trigger, event, message, fired_at=request.fired_at)
            batch.missed.append(fact)
            return
        track, epic, fired_at = request.track, request.epic, request.fired_at
        event = f"{request.trigger}:{track}:{epic}" if track else checkpoint_event(request.trigger, state)
        batch.facts.append(
            checkpoint_fact(state, request.trigger, event, message, track=track, epic=epic, fired_at=fired_at)
        )

    def record_hook(self, hook: HookInput, batch: Batch) -> bool:
        """Add to *batch* what *hook* reports; return False if no record of its session has been read.

        The transcript is late, or the session keeps none: then nothing of it may be kept here either.
        """
        self._pipeline.note_entrypoint(hook.session_id, hook.entrypoint)
        trigger = HOOK_TRIGGERS.get(hook.hook_event_name)
        if trigger is None:
            return True
        if not self._pipeline.knows(hook.session_id):
            return False
        at = hook.at or time.time()
        if trigger == "stop":
            self._pipeline.stop(hook.session_id, at)
        if trigger == "session-end":
            self._pipeline.end(hook.session_id, at)
            key = f"{hook.session_id}:ended:{at}"
            batch.facts.append(Fact(key, hook.session_id, "", at, SessionEnded(hook.reason)))
        message = hook.last_assistant_message
        self.record(CheckpointRequest(hook.session_id, trigger, message, fired_at=hook.at), batch)
        return True

    def record_idle(self, pause: Pause, batch: Batch) -> None:
        """Add to *batch* that a session has gone idle."""
        now = time.time()
        minutes = int((now - pause.last_activity_at) // 60)
        key = f"{pause.session_id}:idle:{pause.last_activity_at}"
        batch.facts.append(Fact(key, pause.session_id, pause.project, now, WentIdle(minutes)))
        self.record(CheckpointRequest(pause.session_id, "idle"), batch)

    def record_missed(self, batch: Batch) -> None:
        """Add a precompact checkpoint for each compaction in *batch* later than ``missed_since``.

        Its key is the number of compactions before it: if a hook reported it first, it is the same one.
        """
        since = self.missed_since
        compacted = [fact for fact in batch.facts if isinstance(fact.body, Compacted) and fact.at > since]
        left = {fact.session_id: 0 for fact in compacted}
        for fact in reversed(compacted):
            left[fact.session_id] += 1
            state = self._pipeline.state(fact.session_id)
            event = f"precompact:{state.compactions - left[fact.session_id]}"
            batch.missed.append(checkpoint_fact(state, "precompact", event, "", fired_at=fact.at))

    def _compactions_after(self, request: CheckpointRequest, batch: Batch) -> int:
        """Return how many compactions the transcript holds after a PreCompact hook: it may arrive late."""
        if request.trigger != "precompact" or not request.fired_at:
            return 0
        known = [*self._journal.facts_of_session(request.session_id, "compacted"), *batch.facts]
        keys = {
            fact.key
            for fact in known
            if isinstance(fact.body, Compacted)
            and fact.session_id == request.session_id
            and fact.at > request.fired_at
        }
        return len(keys)
