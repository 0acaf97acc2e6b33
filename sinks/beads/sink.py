"""Beads: the note of the issue being worked on follows the project's checkpoints."""

import re
from pathlib import Path

from flowd.config.logs import log
from flowd.config.settings import LiveSettings
from flowd.handoff.checkpoint_texts import MAX_SESSION_CHARACTERS, BeadsNote
from flowd.handoff.track.beads import TrackBeads, beads_disabled, track_beads
from flowd.handoff.track.rules import track_handoff_pending
from flowd.handoff.track.tracks import Track
from flowd.handoff.track.workers import read_workers
from flowd.model.facts import Checkpointed, Fact
from flowd.model.session import PERSON, SessionState
from flowd.redaction.data import Redact
from flowd.redaction.live import LiveRedactor
from flowd.sinks.beads.bd import BdOutcome, BdResult, is_issue_id
from flowd.sinks.beads.directory import find_beads
from flowd.sinks.beads.notes import sync_note
from flowd.sinks.protocol import PermanentFailureError, RetryLaterError
from flowd.system.text import and_more
from flowd.workspace.project import FOLDER

MAX_DECISIONS = 10
MAX_LEARNINGS = 5
MAX_FILES = 10
# Transient outcomes are retried, permanent ones are quarantined. Without bd, a database or an issue
# there is nothing to deliver: status shows it, and it is not an error.
_TRANSIENT = frozenset({BdOutcome.LOCKED, BdOutcome.TIMED_OUT})
_PERMANENT = frozenset({BdOutcome.UNKNOWN_ID, BdOutcome.TOO_LARGE})
_ERRORS = frozenset({BdOutcome.FAILED, BdOutcome.UNSUPPORTED})


def checkpoint_note(checkpoint: Checkpointed, at: float, track: TrackBeads | None) -> BeadsNote:
    """Return the note of *checkpoint*, made at *at* while working on *track*."""
    state = checkpoint.state
    return BeadsNote(
        at=at,
        completed="; ".join(part for part in (state.outcome, _changed(state)) if part),
        progress=_progress(track),
        decisions=state.decisions[-MAX_DECISIONS:],
        in_progress=_in_progress(state),
        next=state.next,
        blockers=state.blockers,
        discovered=(
            *state.learnings[-MAX_LEARNINGS:],
            *(f"open question: {text}" for text in state.questions),
        ),
        handoff=f"{_saved_at(checkpoint, track)} ({_origin(checkpoint)})",
        session=re.sub(r"[^\w.-]+", "-", state.session_id)[:MAX_SESSION_CHARACTERS],
        is_start=checkpoint.trigger == "epic-start",
    )


def with_workers(note: BeadsNote, project: str, track: TrackBeads | None) -> BeadsNote:
    """Return *note* with the parallel workers of *track*, if it has any."""
    if track is None:
        return note
    workers = read_workers(project, Track(project, track.track).directory)
    return (
        note._replace(parallel_state=workers.summary, workers=workers.descriptions)
        if workers.workers
        else note
    )


def _progress(track: TrackBeads | None) -> str:
    if track is None or not track.tasks_total:
        return ""
    percent = min(100, track.tasks_completed * 100 // track.tasks_total)
    return f"Tasks 1-{track.tasks_completed} of {track.tasks_total} ({percent}% of track {track.track})"


def _changed(state: SessionState) -> str:
    if not state.files:
        return ""
    return f"changed {and_more(state.files, MAX_FILES)}"


def _in_progress(state: SessionState) -> str:
    goal = state.goal or state.title
    hypothesis = f"hypothesis: {state.hypothesis}" if state.hypothesis else ""
    return "; ".join(part for part in (state.now, f"goal: {goal}" if goal else "", hypothesis) if part)


def _saved_at(checkpoint: Checkpointed, track: TrackBeads | None) -> str:
    if track is not None and track.section and track.handoff_file:
        return f"Section {track.section} saved at conductor/handoffs/{track.track}/{track.handoff_file}"
    if Path(checkpoint.state.project, FOLDER, "handoff.yaml").is_file():
        return f"checkpoint saved at {FOLDER}/handoff.yaml"
    return "checkpoint saved in core.db"


def _origin(checkpoint: Checkpointed) -> str:
    state = checkpoint.state
    branch = f", branch {state.branch}" if state.branch else ""
    session = f", session {state.session_id}" if state.session_id not in ("", PERSON) else ""
    return f"{checkpoint.trigger}{session}{branch}"


class BeadsSink:
    """Writes the newest checkpoint of each project that uses Beads; ``detail`` is the last result."""

    name = "beads"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, settings: LiveSettings, redact: Redact | None = None) -> None:
        self._settings = settings
        self._redact = redact or LiveRedactor(settings)
        self.detail = ""
        self._told: set[str] = set()

    def key(self, fact: Fact) -> str | None:
        """Return the project of a checkpoint with a configured trigger, None if it does not use Beads."""
        settings = self._settings.current.beads
        if not isinstance(fact.body, Checkpointed) or fact.body.trigger not in settings.triggers:
            return None
        if fact.body.is_visitor:
            return None
        has_beads = settings.enabled and fact.project and find_beads(fact.project) is not None
        return fact.project if has_beads and not beads_disabled(fact.project) else None

    def accept(self, fact: Fact) -> None:
        """Write the note; raise if it cannot be written."""
        if not isinstance(fact.body, Checkpointed):
            return
        track = track_beads(fact.project, fact.body.track)
        if track_handoff_pending(fact, track, self._settings.current):
            raise RetryLaterError("waiting for the track handoff to be written, which the note names")
        epic = track.epic if track is not None and is_issue_id(track.epic) else ""
        note = with_workers(checkpoint_note(fact.body, fact.at, track), fact.project, track)
        note = note.redacted(self._redact)
        result = sync_note(fact.project, epic, note, self._settings.current.beads)
        self.detail = self._redact(f"{Path(fact.project).name}: {describe(result)}")
        if result.outcome is BdOutcome.NOT_ACCEPTED and fact.project not in self._told:
            self._told.add(fact.project)
            log.warning("bd_not_accepted", project=fact.project, reason=result.message)
        _raise_failure(result.outcome, self.detail)

    def flush(self) -> None:
        """Do nothing: ``accept`` has written the note."""


def describe(result: BdResult) -> str:
    """Return *result* as one line for people."""
    if result.outcome is BdOutcome.DELIVERED:
        return f"{result.outcome} to {result.issues[0].id}"
    return f"{result.outcome} ({result.message})" if result.message else str(result.outcome)


def _raise_failure(outcome: BdOutcome, detail: str) -> None:
    if outcome in _TRANSIENT:
        raise RetryLaterError(detail)
    if outcome in _PERMANENT:
        raise PermanentFailureError(detail, hint="see `beads.issue` in `flowd config`")
    if outcome in _ERRORS:
        raise OSError(detail)
