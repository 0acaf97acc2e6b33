"""The conductor's side of a handoff: choose the track, create its handoff, summarise it for a resume."""

import time
from collections.abc import Callable
from typing import Literal

import msgspec

from flowd.actions.context import Context
from flowd.actions.handoff.project import ProjectHandoffs
from flowd.actions.trust import is_foreign_document
from flowd.config.settings import ConductorSettings
from flowd.handoff.track.rules import PRIORITIES, read_rules
from flowd.handoff.track.tracks import Track, choose_track, has_conductor, named_track, tracks_of
from flowd.handoff.track.workers import Workers, read_workers
from flowd.model.facts import Checkpointed, Fact
from flowd.sinks.track.create import Creation, CreationResult
from flowd.sinks.track.delivery import DeliverNow
from flowd.sinks.track.resume import TrackSummary, resume_track
from flowd.store.handoff_fields import bound_track
from flowd.system.errors import FlowdError
from flowd.system.times import age

POLL_S = 0.5

WorkersChoice = Literal["wait", "include", "cancel"]
AskAboutWorkers = Callable[[Workers], WorkersChoice]


class TrackStep(msgspec.Struct, frozen=True):
    """One step of creating a track handoff."""

    name: str
    outcome: str
    said: str


class TrackCreated(msgspec.Struct, frozen=True):
    """A handoff in a conductor track; ``path`` is relative to the project."""

    name: str
    path: str
    section: int
    progress_percent: int
    cancelled: bool
    steps: list[TrackStep]

    @property
    def failures(self) -> list[TrackStep]:
        """The steps that failed."""
        return [step for step in self.steps if step.outcome == "failed"]


class TrackDocument(msgspec.Struct, frozen=True):
    """The last handoff of a track."""

    path: str
    trigger: str
    age: str
    todos: list[str]
    not_accepted: bool = False


class TrackIssue(msgspec.Struct, frozen=True):
    """The Beads issue of a track's epic."""

    id: str
    title: str
    status: str
    notes: str


class TrackMail(msgspec.Struct, frozen=True):
    """The last handoff mailed about a track."""

    subject: str
    sender: str = msgspec.field(name="from")
    at: str
    body: str


class ResumedTrack(msgspec.Struct, frozen=True):
    """What a session that resumes a track gets to see of it."""

    name: str
    progress_percent: int
    tasks_completed: int
    tasks_total: int
    phase: str
    warnings: list[str]
    handoff: TrackDocument | None
    beads: TrackIssue | None
    mail: TrackMail | None


def find_track(handoffs: ProjectHandoffs, name: str = "") -> Track | None:
    """Return the track called *name*, else the one being worked on; None without a conductor."""
    root = handoffs.root
    if name and (not has_conductor(root) or named_track(root, name) is None):
        known = ", ".join(track.name for track in tracks_of(root)) or "none"
        raise FlowdError(f"no track is named {name!r}", hint=f"tracks here: {known}")
    if not has_conductor(root) or not handoffs.context.settings.conductor.enabled:
        return None
    return choose_track(root, name or bound_track(handoffs.journal, handoffs.context.session_id))


def create_in_track(
    context: Context, track: Track | None, fact: Fact, ask: AskAboutWorkers | None
) -> TrackCreated | None:
    """Create the track's handoff of the checkpoint *fact*; None without a track or for another trigger.

    While parallel workers run, *ask* decides; without it, or in a project that wants quiet, the setting
    ``conductor.parallel`` does.
    """
    checkpoint = fact.body
    if track is None or not isinstance(checkpoint, Checkpointed) or checkpoint.trigger not in PRIORITIES:
        return None
    settings = context.settings

    def read() -> Workers:
        return read_workers(track.project, track.directory)

    created = Creation(
        track.project,
        checkpoint,
        fact.at,
        settings,
        DeliverNow(settings),
        decide=WorkersPolicy(settings.conductor, read, None if read_rules(track.project).quiet else ask),
        author="agent" if context.session_id else "human",
        redact=context.redact,
    ).run()
    return _created(created)


def summarise_track(context: Context, track: Track) -> ResumedTrack:
    """Return the state of *track* by mail, file and Beads, and mark it as active."""
    resumed = _resumed(resume_track(track, context.settings))
    document = resumed.handoff
    if document is None or not is_foreign_document(track.project, document.path):
        return resumed
    todos = [] if context.session_id else document.todos
    marked = msgspec.structs.replace(document, todos=todos, not_accepted=True)
    return msgspec.structs.replace(resumed, handoff=marked)


class WorkersPolicy:
    """Decides whether a handoff is created while parallel workers run."""

    def __init__(
        self, settings: ConductorSettings, read: Callable[[], Workers], ask: AskAboutWorkers | None
    ) -> None:
        self._settings = settings
        self._read = read
        self._ask = ask

    def __call__(self, workers: Workers) -> bool:
        """Return True if the handoff is to be created."""
        if self._ask is None:
            if self._settings.parallel == "wait":
                self._wait()
            return self._settings.parallel != "cancel"
        while workers.running:
            choice = self._ask(workers)
            if choice != "wait":
                return choice == "include"
            workers = self._wait()
        return True

    def _wait(self) -> Workers:
        """Return the workers once none is running, or when ``conductor.parallel_wait_s`` is over."""
        deadline = time.monotonic() + self._settings.parallel_wait_s
        while (workers := self._read()).running and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return workers


def _created(created: CreationResult) -> TrackCreated:
    return TrackCreated(
        name=created.track,
        path=created.path,
        section=created.section,
        progress_percent=created.progress.percent,
        cancelled=created.is_cancelled,
        steps=[TrackStep(*step) for step in created.steps],
    )


def _resumed(summary: TrackSummary) -> ResumedTrack:
    handoff, issue, mail, progress = summary.handoff, summary.issue, summary.mail, summary.progress
    return ResumedTrack(
        name=summary.track.name,
        progress_percent=progress.percent,
        tasks_completed=progress.done,
        tasks_total=progress.total,
        phase=progress.phase.title if progress.phase else "",
        warnings=list(summary.warnings),
        handoff=TrackDocument(handoff.path, handoff.trigger, age(handoff.at), list(handoff.next_steps))
        if handoff
        else None,
        beads=TrackIssue(issue.id, issue.title, issue.status, issue.notes or "") if issue else None,
        mail=TrackMail(mail.subject, mail.sender, mail.created_at, mail.body) if mail else None,
    )
