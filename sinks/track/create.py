"""CREATE: the ten steps of a conductor handoff, in order; a failed step does not stop the others."""

import os
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from flowd.config.settings import Settings
from flowd.handoff.checkpoint_texts import MailMessage
from flowd.handoff.track.beads import TrackBeads
from flowd.handoff.track.document import TrackHandoff, add_to_index, file_name, render, write_document
from flowd.handoff.track.metadata import Gates, HandoffSection, HistoryEntry, Metadata, add_to_history
from flowd.handoff.track.own import remember
from flowd.handoff.track.rules import PRIORITIES, TrackRules, read_rules
from flowd.handoff.track.tracks import CONDUCTOR, HANDOFFS, Track, TrackProgress, choose_track
from flowd.handoff.track.workers import Workers, read_workers
from flowd.model.facts import Checkpointed
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.sinks.agent_mail.sink import checkpoint_mail
from flowd.sinks.beads.sink import checkpoint_note
from flowd.sinks.idle_timer import touch_marker
from flowd.sinks.track.content import handoff_of, with_steps_left, without_secrets
from flowd.sinks.track.delivery import DeliveryResult, TrackDelivery, counted_progress
from flowd.system.errors import FlowdError
from flowd.system.times import iso_millis

DONE, SKIPPED, FAILED, CANCELLED = "done", "skipped", "failed", "cancelled"
Decide = Callable[[Workers], bool]


class CreationStep(NamedTuple):
    """The name, outcome and message of one step; the fields are the keys of ``--json``."""

    name: str
    outcome: str
    said: str = ""


class CreationResult(NamedTuple):
    """The result; ``path`` is relative to the project, empty if no file was written."""

    track: str
    path: str
    section: int
    progress: TrackProgress
    steps: tuple[CreationStep, ...]

    @property
    def is_cancelled(self) -> bool:
        """Return True if nothing was done because workers are running."""
        return any(step.outcome == CANCELLED for step in self.steps)

    @property
    def failures(self) -> list[CreationStep]:
        """Return the failed steps."""
        return [step for step in self.steps if step.outcome == FAILED]


class Creation:
    """Creates one handoff. ``decide`` returns False to cancel while workers are running."""

    def __init__(
        self,
        project: str,
        checkpoint: Checkpointed,
        at: float,
        settings: Settings,
        delivery: TrackDelivery,
        *,
        decide: Decide = lambda _: True,
        author: str = "agent",
        redact: Redact = redact,
    ) -> None:
        self._project = project
        self._checkpoint = checkpoint
        self._at = at
        self._settings = settings
        self._delivery = delivery
        self._decide = decide
        self._author = author
        self._redact = redact
        self._rules = TrackRules()
        self._track = Track(project, "general")
        self._workers = Workers()
        self._metadata = Metadata("", "", Gates(), HandoffSection())
        self._progress = TrackProgress()
        self._handoff = TrackHandoff(at, checkpoint.trigger, self._track.name)
        self._file = ""
        self._section = 0

    def run(self) -> CreationResult:
        """Run the steps; only a cancelled worker check skips the rest."""
        steps: list[CreationStep] = []
        for name, action in self._actions():
            steps.append(self._step(name, action))
            if steps[-1].outcome == CANCELLED:
                break
        path = os.path.join(CONDUCTOR, HANDOFFS, self._track.name, self._file) if self._file else ""
        return CreationResult(self._track.name, path, self._section, self._progress, tuple(steps))

    def _actions(self) -> tuple[tuple[str, Callable[[], DeliveryResult]], ...]:
        return (
            ("context", self._find_context),
            ("parallel workers", self._check_workers),
            ("metadata", self._gather),
            ("secrets", self._scan),
            ("Agent Mail", self._mail),
            ("Beads", self._note),
            ("markdown", self._write),
            ("metadata.json", self._record),
            ("index.md", self._list),
            (".last_activity", self._touch),
        )

    def _step(self, name: str, action: Callable[[], DeliveryResult]) -> CreationStep:
        try:
            outcome, message = action()
        except (FlowdError, OSError) as error:
            return CreationStep(name, FAILED, str(error))
        return CreationStep(name, outcome, message)

    def _find_context(self) -> DeliveryResult:
        self._track = choose_track(self._project, self._checkpoint.track)
        self._rules = read_rules(self._project)
        return DeliveryResult(DONE, "; ".join([self._track.name, *self._rules.warnings]))

    def _check_workers(self) -> DeliveryResult:
        self._workers = read_workers(self._project, self._track.directory)
        message = "; ".join([self._workers.summary or "none", *self._workers.warnings])
        if self._workers.running and not self._decide(self._workers):
            return DeliveryResult(CANCELLED, f"running: {', '.join(self._workers.running)}")
        return DeliveryResult(DONE, message)

    def _gather(self) -> DeliveryResult:
        plan = self._track.plan()
        phase = plan.labels.get(self._checkpoint.epic) or plan.current
        self._progress = TrackProgress(plan.done, plan.total, phase)
        if self._track.is_general:
            return DeliveryResult(DONE, "no track")
        self._metadata = self._track.metadata()
        counted = counted_progress(self._project, self._metadata.epic, self._settings)
        if counted:
            self._progress = counted._replace(phase=phase)
        return DeliveryResult(DONE, f"{self._progress.percent} %")

    def _scan(self) -> DeliveryResult:
        state = with_steps_left(self._checkpoint.state, self._track, self._at)
        scanned = without_secrets(state, self._rules.patterns, self._redact)
        self._checkpoint = msgspec.structs.replace(self._checkpoint, state=scanned.state)
        self._handoff = handoff_of(
            self._checkpoint,
            self._at,
            self._track,
            author=self._author,
            gates=self._metadata.gates,
            progress=self._progress,
            workers=self._workers,
        )
        return DeliveryResult(DONE, f"{scanned.masked} hidden" if scanned.masked else "none")

    def _mail(self) -> DeliveryResult:
        return self._delivery.mail(self._project, self._message())

    def _message(self) -> MailMessage:
        return checkpoint_mail(self._checkpoint, self._track_beads(), self._redact)

    def _note(self) -> DeliveryResult:
        note = checkpoint_note(self._checkpoint, self._at, self._track_beads())
        if self._workers.workers:
            note = note._replace(parallel_state=self._workers.summary, workers=self._workers.descriptions)
        return self._delivery.note(self._project, self._metadata.epic, note.redacted(self._redact))

    def _track_beads(self) -> TrackBeads:
        """Return the track as mail and note describe it, with the section that is about to be written."""
        return TrackBeads(
            track=self._track.name,
            epic=self._checkpoint.epic,
            section=self._metadata.handoff.section_count + 1,
            handoff_file=file_name(self._handoff),
            tasks_completed=self._progress.done,
            tasks_total=self._progress.total,
            phase=self._progress.phase.title if self._progress.phase else "",
        )

    def _write(self) -> DeliveryResult:
        recorded = self._recorded()
        if recorded is not None and isinstance(recorded.file, str):
            self._file = recorded.file
            return DeliveryResult(SKIPPED, "written before")
        text = render(self._handoff, self._redact)
        remember(self._project, text)
        self._file = write_document(self._project, self._track.handoffs, self._handoff, text)
        return DeliveryResult(DONE, self._file)

    def _record(self) -> DeliveryResult:
        if not self._track.has_metadata:
            return DeliveryResult(SKIPPED, "the track has no metadata.json")
        if self._checkpoint.trigger not in PRIORITIES:
            return DeliveryResult(SKIPPED, f"{self._checkpoint.trigger} is not a trigger of the conductor")
        entry = HistoryEntry(
            section=1,
            timestamp=iso_millis(self._at),
            trigger=self._checkpoint.trigger,  # type: ignore[arg-type]  # one of the six, see above
            bead_id=self._checkpoint.epic or None,
            phase_at_handoff=self._progress.phase.title if self._progress.phase else None,
            tasks_completed=self._progress.done,
            tasks_total=self._progress.total,
            file=self._file or msgspec.UNSET,
        )
        self._section = add_to_history(self._project, self._track.directory, entry, self._progress.percent)
        return DeliveryResult(DONE, f"section {self._section}")

    def _list(self) -> DeliveryResult:
        if not self._file:
            return DeliveryResult(SKIPPED, "no file to name")
        if add_to_index(self._project, self._track.handoffs, self._track.name, self._file, self._redact):
            return DeliveryResult(DONE)
        return DeliveryResult(SKIPPED, "index.md has other columns and was not changed")

    def _touch(self) -> DeliveryResult:
        touch_marker(self._project, self._at)
        return DeliveryResult(DONE)

    def _recorded(self) -> HistoryEntry | None:
        moment = (iso_millis(self._at), self._checkpoint.trigger, self._checkpoint.epic or None)
        return next((entry for entry in self._metadata.handoff.history if entry.moment == moment), None)
