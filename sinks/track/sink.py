"""The conductor's tracks: checkpoints become handoffs, history entries and index rows of their track."""

import os
import time
from pathlib import Path

import msgspec

from flowd.config.logs import log
from flowd.config.settings import LiveSettings
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.beads import EXPORT, closed_epics
from flowd.handoff.track.document import handoffs_in
from flowd.handoff.track.metadata import HistoryEntry
from flowd.handoff.track.rules import AUTOMATIC_TRIGGERS, read_rules
from flowd.handoff.track.tracks import Track, choose_track, has_conductor
from flowd.handoff.track.workers import Workers, read_workers
from flowd.handoff.yaml.storage import Signature, signature_of
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Checkpointed, Fact
from flowd.model.session import latest_activity
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.sinks.beads.directory import find_beads
from flowd.sinks.protocol import RetryLaterError
from flowd.sinks.track.create import Creation, CreationResult
from flowd.sinks.track.delivery import DeferDelivery
from flowd.store.database import Database
from flowd.store.handoff_fields import bound_track
from flowd.store.journal import Journal
from flowd.system.errors import FlowdError
from flowd.system.times import iso_millis, to_seconds

FRESH_S = 86_400.0


class TrackSink:
    """Writes track handoffs that no command has written yet; ``detail`` is the last result."""

    name = "track"
    debounce_s = 0.5
    low_latency = False

    def __init__(self, database: Database, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._redact = redact or LiveRedactor(settings)
        self._journal = Journal(database)
        self._settings = settings
        self.detail = ""
        self._exports_seen: dict[str, tuple[str, Signature | None]] = {}

    def key(self, fact: Fact) -> str | None:
        """Return session, trigger, track and epic of a checkpoint, None without a conductor directory."""
        body = fact.body
        if not isinstance(body, Checkpointed) or not fact.project or time.time() - fact.at > FRESH_S:
            return None
        if not self._settings.current.conductor.enabled or not has_conductor(fact.project):
            return None
        trigger = body.trigger if body.trigger in AUTOMATIC_TRIGGERS else "scan"
        return f"{fact.session_id}:{trigger}:{body.track}:{body.epic}"

    def accept(self, fact: Fact) -> None:
        """Create the handoff of *fact*, and those of epics that were closed since."""
        checkpoint = fact.body
        if not isinstance(checkpoint, Checkpointed):
            return
        track = choose_track(
            fact.project, checkpoint.track or bound_track(self._journal, checkpoint.state.session_id)
        )
        self._record_closed_epics(track, checkpoint)
        is_automatic = checkpoint.trigger in AUTOMATIC_TRIGGERS
        if is_automatic and _is_wanted(track, checkpoint, iso_millis(fact.at)):
            self._create(track, checkpoint, fact.at)

    def flush(self) -> None:
        """Do nothing: ``accept`` has written the handoff."""

    def _record_closed_epics(self, track: Track, checkpoint: Checkpointed) -> None:
        """Append a checkpoint for each epic that Beads reports as closed, and create its handoff."""
        # The export may have thousands of lines and turns end often: read each version of it once.
        version = (checkpoint.state.session_id, _export_signature(track.project))
        if self._exports_seen.get(track.directory) == version:
            return
        for epic in _closed_in_beads(track, checkpoint):
            moment = f"epic-end:{track.name}:{epic}"
            fact = checkpoint_fact(checkpoint.state, "epic-end", moment, "", track=track.name, epic=epic)
            if self._journal.fact(fact.key) is None and isinstance(fact.body, Checkpointed):
                self._journal.append(fact)
                if _is_wanted(track, fact.body, iso_millis(fact.at)):
                    self._create(track, fact.body, fact.at)
        self._exports_seen[track.directory] = version

    def _create(self, track: Track, checkpoint: Checkpointed, at: float) -> None:
        settings = self._settings.current
        self._wait_for_workers(track, at)
        checkpoint = msgspec.structs.replace(checkpoint, track=track.name)
        created = Creation(
            track.project,
            checkpoint,
            at,
            settings,
            DeferDelivery(),
            decide=self._may_continue,
            redact=self._redact,
        ).run()
        self._report(track, checkpoint.trigger, created)

    def _wait_for_workers(self, track: Track, at: float) -> None:
        settings = self._settings.current.conductor
        if settings.parallel != "wait" or time.time() > at + settings.parallel_wait_s:
            return
        running = read_workers(track.project, track.directory).running
        if running:
            raise RetryLaterError(f"{track.name}: waiting for workers {', '.join(running)}")

    def _may_continue(self, _: Workers) -> bool:
        return self._settings.current.conductor.parallel != "cancel"

    def _report(self, track: Track, trigger: str, created: CreationResult) -> None:
        where = f"{Path(track.project).name}/{track.name}"
        if created.failures:
            steps = "; ".join(f"{step.name}: {step.said}" for step in created.failures)
            self.detail = f"{where}: {steps}"
            raise FlowdError(self.detail)
        self.detail = (
            f"{where}: {'cancelled, workers are running' if created.is_cancelled else 'created'} ({trigger})"
        )
        log.info("track_handoff", track=track.name, trigger=trigger, path=created.path)


def _export_signature(project: str) -> Signature | None:
    beads = find_beads(project)
    return signature_of(os.path.join(beads.path, EXPORT)) if beads else None


def _closed_in_beads(track: Track, checkpoint: Checkpointed) -> list[str]:
    beads = find_beads(track.project)
    if beads is None or track.is_general or not os.path.lexists(os.path.join(beads.path, EXPORT)):
        return []
    try:
        epic = track.metadata().epic
    except HandoffError:
        return []
    return closed_epics(beads.path, epic, checkpoint.state.started_at) if epic else []


def _is_wanted(track: Track, checkpoint: Checkpointed, timestamp: str) -> bool:
    """Return True if the project allows the handoff and it is missing or incomplete."""
    if not read_rules(track.project).allows(checkpoint.trigger):
        return False
    try:
        history = () if track.is_general else track.metadata().handoff.history
    except HandoffError:
        return True  # the step that reads it reports the error
    if any(entry.moment == (timestamp, checkpoint.trigger, checkpoint.epic or None) for entry in history):
        return True
    if checkpoint.trigger == "idle":
        return _last_handoff_at(track, history) < latest_activity(checkpoint.state)
    return not _is_recorded(history, checkpoint)


def _is_recorded(history: tuple[HistoryEntry, ...], checkpoint: Checkpointed) -> bool:
    """Return True if the latest entry about the epic, or any about the design, has the same trigger."""
    if checkpoint.trigger == "design-end":
        return any(entry.trigger == "design-end" for entry in history)
    entries = [entry for entry in history if entry.bead_id == (checkpoint.epic or None)]
    return bool(entries and checkpoint.epic) and entries[-1].trigger == checkpoint.trigger


def _last_handoff_at(track: Track, history: tuple[HistoryEntry, ...]) -> float:
    if not track.is_general:
        return to_seconds(history[-1].timestamp) if history else 0.0
    written = handoffs_in(track.project, track.handoffs)
    return written[-1].at if written else 0.0
