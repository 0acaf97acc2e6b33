"""The conductor's track: checkpoints of its triggers become its handoffs, history and index."""

import os
import time
from pathlib import Path

import msgspec

from flowd.config.live import LiveSettings
from flowd.config.logs import log
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.beads import EXPORT, closed_epics
from flowd.handoff.track.document import timestamp_text
from flowd.handoff.track.index import handoffs_in
from flowd.handoff.track.metadata import HistoryEntry
from flowd.handoff.track.rules import read_rules
from flowd.handoff.track.tracks import Track, choose_track, has_conductor
from flowd.handoff.track.workers import Workers, read_workers
from flowd.handoff.yaml.storage import Signature, signature_of
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Checkpointed, Fact
from flowd.model.session import latest_activity
from flowd.sinks.beads.place import beads_place
from flowd.sinks.protocol import RetryLaterError
from flowd.sinks.track.couriers import DeferDelivery
from flowd.sinks.track.create import Creation, CreationResult
from flowd.sinks.track.pending import TAKEN
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.store.user_fields import bound_track
from flowd.system.errors import FlowdError
from flowd.system.times import to_seconds

# The triggers whose checkpoints become handoffs of a track without a command.


FRESH_S = 86_400.0


class TrackSink:
    """Writes what a command of the conductor or a person has not written already."""

    name = "track"
    debounce_s = 0.5
    low_latency = False

    def __init__(self, database: Database, settings: LiveSettings) -> None:
        self._journal = Journal(database)
        self._settings = settings
        self.detail = ""
        self._exports_seen: dict[str, tuple[str, Signature | None]] = {}

    def key(self, fact: Fact) -> str | None:
        """Return the moment of a checkpoint in a project with a conductor; without one nothing is done."""
        body = fact.body
        if not isinstance(body, Checkpointed) or not fact.project or time.time() - fact.at > FRESH_S:
            return None
        if not self._settings.current.conductor.enabled or not has_conductor(fact.project):
            return None
        trigger = body.trigger if body.trigger in TAKEN else "look"
        return f"{fact.session_id}:{trigger}:{body.track}:{body.epic}"

    def accept(self, fact: Fact) -> None:
        """Make the handoff that *fact* asks for, and those of epics that were closed meanwhile."""
        checkpoint = fact.body
        if not isinstance(checkpoint, Checkpointed):
            return
        track = choose_track(
            fact.project, checkpoint.track or bound_track(self._journal, checkpoint.state.session_id)
        )
        self._note_closed_epics(track, checkpoint)
        if checkpoint.trigger in TAKEN and _is_wanted(track, checkpoint, timestamp_text(fact.at)):
            self._create(track, checkpoint, fact.at)

    def flush(self) -> None:
        """Do nothing: what was accepted is written."""

    def _note_closed_epics(self, track: Track, checkpoint: Checkpointed) -> None:
        """Make a checkpoint of each epic that Beads says was closed, for every sink; its own is taken now."""
        # The export may have many thousands of lines, and turns end often: the same one is read once.
        looked_at = (checkpoint.state.session_id, _export_signature(track.project))
        if self._exports_seen.get(track.directory) == looked_at:
            return
        for epic in _closed_in_beads(track, checkpoint):
            moment = f"epic-end:{track.name}:{epic}"
            fact = checkpoint_fact(checkpoint.state, "epic-end", moment, "", track=track.name, epic=epic)
            if self._journal.fact(fact.key) is None and isinstance(fact.body, Checkpointed):
                self._journal.append(fact)
                if _is_wanted(track, fact.body, timestamp_text(fact.at)):
                    self._create(track, fact.body, fact.at)
        self._exports_seen[track.directory] = looked_at

    def _create(self, track: Track, checkpoint: Checkpointed, at: float) -> None:
        settings = self._settings.current
        self._wait_for_workers(track, at)
        checkpoint = msgspec.structs.replace(checkpoint, track=track.name)
        created = Creation(
            track.project, checkpoint, at, settings, DeferDelivery(), decide=self._goes_on
        ).run()
        self._tell(track, checkpoint.trigger, created)

    def _wait_for_workers(self, track: Track, at: float) -> None:
        wanted = self._settings.current.conductor
        if wanted.parallel != "wait" or time.time() > at + wanted.parallel_wait_s:
            return
        running = read_workers(track.project, track.directory).running
        if running:
            raise RetryLaterError(f"{track.name}: waits for {', '.join(running)}")

    def _goes_on(self, _: Workers) -> bool:
        return self._settings.current.conductor.parallel != "cancel"

    def _tell(self, track: Track, trigger: str, created: CreationResult) -> None:
        where = f"{Path(track.project).name}/{track.name}"
        if created.failures:
            steps = "; ".join(f"{step.name}: {step.said}" for step in created.failures)
            self.detail = f"{where}: {steps}"
            raise FlowdError(self.detail)
        self.detail = (
            f"{where}: {'cancelled, workers run' if created.is_cancelled else 'created'} ({trigger})"
        )
        log.info("track_handoff", track=track.name, trigger=trigger, path=created.path)


def _export_signature(project: str) -> Signature | None:
    place = beads_place(project)
    return signature_of(os.path.join(place.directory, EXPORT)) if place else None


def _closed_in_beads(track: Track, checkpoint: Checkpointed) -> list[str]:
    place = beads_place(track.project)
    if place is None or track.is_general or not os.path.lexists(os.path.join(place.directory, EXPORT)):
        return []
    try:
        epic = track.metadata().epic
    except HandoffError:
        return []
    return closed_epics(place.directory, epic, checkpoint.state.started_at) if epic else []


def _is_wanted(track: Track, checkpoint: Checkpointed, timestamp: str) -> bool:
    """Say whether the project allows the handoff and it is not yet made, or made only in part."""
    if not read_rules(track.project).allows(checkpoint.trigger):
        return False
    try:
        history = () if track.is_general else track.metadata().handoff.history
    except HandoffError:
        return True  # the step that reads it says what is wrong
    if any(entry.moment == (timestamp, checkpoint.trigger, checkpoint.epic or None) for entry in history):
        return True
    if checkpoint.trigger == "idle":
        return _last_handoff_at(track, history) < latest_activity(checkpoint.state)
    return not _is_told(history, checkpoint)


def _is_told(history: tuple[HistoryEntry, ...], checkpoint: Checkpointed) -> bool:
    """Say whether the last word about the epic, or the design, is this one already."""
    if checkpoint.trigger == "design-end":
        return any(entry.trigger == "design-end" for entry in history)
    about = [entry for entry in history if entry.bead_id == (checkpoint.epic or None)]
    return bool(about and checkpoint.epic) and about[-1].trigger == checkpoint.trigger


def _last_handoff_at(track: Track, history: tuple[HistoryEntry, ...]) -> float:
    if not track.is_general:
        return to_seconds(history[-1].timestamp) if history else 0.0
    written = handoffs_in(track.project, track.handoffs)
    return written[-1].at if written else 0.0
