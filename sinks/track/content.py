"""The content of a track handoff: a session's state as the four sections of the template."""

from typing import NamedTuple

import msgspec

from flowd.handoff.track.document import USUAL_STEPS, TrackHandoff, handoffs_in
from flowd.handoff.track.metadata import Gates
from flowd.handoff.track.tracks import Track, TrackProgress
from flowd.handoff.track.workers import Workers
from flowd.model.facts import Checkpointed
from flowd.model.session import SessionState
from flowd.redaction.data import Redact, redact_data
from flowd.redaction.redactor import Redactor, redact
from flowd.workspace.git import commits_between, head_commit, read_branch

MAX_FILES = 12
MAX_COMMITS = 8
_CONTINUE = "Go on with "
_TEXT_FIELDS = (
    *("title", "goal", "now", "hypothesis", "outcome", "branch", "files"),
    *("decisions", "learnings", "questions", "blockers", "next"),
)


class RedactedState(NamedTuple):
    """A state without secrets, and in how many texts one was masked."""

    state: SessionState
    masked: int


def with_steps_left(state: SessionState, track: Track, at: float) -> SessionState:
    """Return *state*; if it names no next step, with those of the track's previous handoff."""
    if state.next:
        return state
    before = [handoff for handoff in handoffs_in(track.project, track.handoffs) if handoff.at < at]
    steps = before[-1].next_steps if before else []
    own = [step for step in steps if step not in USUAL_STEPS and not step.startswith(_CONTINUE)]
    return msgspec.structs.replace(state, next=tuple(own))


def without_secrets(state: SessionState, patterns: tuple[str, ...], redact: Redact = redact) -> RedactedState:
    """Return *state* with every secret masked, including those of the project's own *patterns*."""
    extra = Redactor(patterns) if patterns else None

    def mask(text: str) -> str:
        return redact(extra(text) if extra else text)

    before = {name: _texts(getattr(state, name)) for name in _TEXT_FIELDS}
    after = redact_data(before, mask)
    masked = sum(old != new for name in before for old, new in zip(before[name], after[name], strict=True))
    single = {name: after[name][0] for name in _TEXT_FIELDS if isinstance(getattr(state, name), str)}
    lists = {name: tuple(after[name]) for name in _TEXT_FIELDS if name not in single}
    return RedactedState(msgspec.structs.replace(state, **single, **lists), masked)


def _texts(value: str | tuple[str, ...]) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def handoff_of(
    checkpoint: Checkpointed,
    at: float,
    track: Track,
    *,
    author: str,
    gates: Gates,
    progress: TrackProgress,
    workers: Workers,
) -> TrackHandoff:
    """Return the handoff of *checkpoint*, whose state is redacted already, for *track*."""
    state = checkpoint.state
    return TrackHandoff(
        at=at,
        trigger=checkpoint.trigger,
        track=track.name,
        bead=checkpoint.epic,
        commit=head_commit(track.project),
        branch=read_branch(track.project) or state.branch,
        author=author,
        gates_passed=gates.passed,
        current_gate=gates.current,
        context=_context(state, progress, workers),
        changes=_changes(state, at),
        learnings=(*state.learnings, *(f"Decided: {text}" for text in state.decisions)),
        next=(*state.next, *(f"Answer: {text}" for text in state.questions), *_next_phase(progress)),
    )


def _context(state: SessionState, progress: TrackProgress, workers: Workers) -> tuple[str, ...]:
    labelled = {
        "": state.goal or state.title or state.now,
        "Now: ": state.now if state.goal or state.title else "",
        "Outcome: ": state.outcome,
        "Hypothesis: ": state.hypothesis,
        "Progress: ": _progress_text(progress),
        "Parallel: ": workers.summary,
    }
    lines = [f"{label}{text}" for label, text in labelled.items() if text]
    lines += [f"Blocked: {text}" for text in state.blockers]
    return (*lines, *(f"Worker: {text}" for text in workers.descriptions))


def _progress_text(progress: TrackProgress) -> str:
    if not progress.total:
        return ""
    phase = f", in {progress.phase.title}" if progress.phase and progress.phase.title else ""
    return f"{progress.percent} % ({progress.done} of {progress.total} tasks{phase})"


def _changes(state: SessionState, at: float) -> tuple[str, ...]:
    commits = commits_between(state.project, state.started_at or at, at, MAX_COMMITS)
    more = len(state.files) - MAX_FILES
    files = [f"`{name}`" for name in state.files[:MAX_FILES]]
    return (
        *files,
        *([f"(+{more} more files)"] if more > 0 else []),
        *(f"Committed: {redact(subject)}" for subject in commits),
    )


def _next_phase(progress: TrackProgress) -> list[str]:
    phase = progress.phase
    return [_CONTINUE + phase.title] if phase and phase.title and not phase.is_closed else []
