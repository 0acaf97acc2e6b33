"""What a track's handoff says of a session: its state as the four sections of the template."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from flowd.handoff.track.document import USUAL_STEPS, TrackHandoff
from flowd.handoff.track.index import handoffs_in
from flowd.handoff.track.metadata import Gates
from flowd.handoff.track.tracks import Phase, Track, percent
from flowd.handoff.track.workers import Workers
from flowd.model.facts import Checkpointed
from flowd.model.session import SessionState
from flowd.redaction.redactor import Redactor, redact
from flowd.workspace.git import commits_between, head_commit, read_branch

FILES_TOLD = 12
COMMITS_TOLD = 8
_GO_ON = "Go on with "
_SAID = (
    *("title", "goal", "now", "hypothesis", "outcome", "branch", "files"),
    *("decisions", "learnings", "questions", "blockers", "next"),
)


class TrackProgress(NamedTuple):
    """How far the track is, by Beads or by its plan."""

    done: int = 0
    total: int = 0
    phase: Phase | None = None

    @property
    def percent(self) -> int:
        """Whole percent; nothing of nothing is 0."""
        return percent(self.done, self.total)


class RedactedState(NamedTuple):
    """A state without secrets, and how many were hidden."""

    state: SessionState
    hidden: int


def with_steps_left(state: SessionState, track: Track, at: float) -> SessionState:
    """Return *state*; where it names no next step, those that the track's handoff before left open stand."""
    if state.next:
        return state
    before = [handoff for handoff in handoffs_in(track.project, track.handoffs) if handoff.at < at]
    steps = before[-1].next_steps if before else []
    own = [step for step in steps if step not in USUAL_STEPS and not step.startswith(_GO_ON)]
    return msgspec.structs.replace(state, next=tuple(own))


def without_secrets(state: SessionState, patterns: tuple[str, ...]) -> RedactedState:
    """Return *state* with every secret hidden, those of the project's own *patterns* too."""
    extra = Redactor(patterns) if patterns else None
    hidden = 0

    def scan(text: str) -> str:
        nonlocal hidden
        clean = redact(extra(text) if extra else text)
        hidden += clean != text
        return clean

    fields = {name: _mapped(getattr(state, name), scan) for name in _SAID}
    return RedactedState(msgspec.structs.replace(state, **fields), hidden)


def _mapped(value: Any, scan: Callable[[str], str]) -> Any:
    return scan(value) if isinstance(value, str) else tuple(scan(text) for text in value)


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
    """Return the handoff that tells *checkpoint*, whose state holds no secret, in the course of *track*."""
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
        next=(*state.next, *(f"Answer: {text}" for text in state.questions), *_in_plan(progress)),
    )


def _context(state: SessionState, progress: TrackProgress, workers: Workers) -> tuple[str, ...]:
    told = {
        "": state.goal or state.title or state.now,
        "Now: ": state.now if state.goal or state.title else "",
        "Outcome: ": state.outcome,
        "Hypothesis: ": state.hypothesis,
        "Progress: ": _told_progress(progress),
        "Parallel: ": workers.summary,
    }
    lines = [f"{label}{text}" for label, text in told.items() if text]
    lines += [f"Blocked: {text}" for text in state.blockers]
    return (*lines, *(f"Worker: {text}" for text in workers.told))


def _told_progress(progress: TrackProgress) -> str:
    if not progress.total:
        return ""
    phase = f", in {progress.phase.title}" if progress.phase and progress.phase.title else ""
    return f"{progress.percent} % ({progress.done} of {progress.total} tasks{phase})"


def _changes(state: SessionState, at: float) -> tuple[str, ...]:
    commits = commits_between(state.project, state.started_at or at, at, COMMITS_TOLD)
    more = len(state.files) - FILES_TOLD
    files = [f"`{name}`" for name in state.files[:FILES_TOLD]]
    return (
        *files,
        *([f"(+{more} more files)"] if more > 0 else []),
        *(f"Committed: {redact(subject)}" for subject in commits),
    )


def _in_plan(progress: TrackProgress) -> list[str]:
    phase = progress.phase
    return [_GO_ON + phase.title] if phase and phase.title and not phase.is_closed else []
