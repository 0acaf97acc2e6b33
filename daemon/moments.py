"""The moments of a session that hooks and clocks announce, turned into facts and checkpoints."""

import time

from flowd.daemon.checkpointer import Checkpointer
from flowd.daemon.conductors import Seen
from flowd.daemon.hook_input import HookInput
from flowd.daemon.pipeline import Pipeline
from flowd.store.facts import Compacted, Fact, SessionEnded, Trigger, WentIdle
from flowd.store.idle import Pause
from flowd.store.journal import Batch, Journal

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

    def conductor(self, session_id: str, seen: Seen, batch: Batch) -> None:
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
