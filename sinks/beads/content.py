"""The Beads note of a checkpoint."""

from pathlib import Path

from flowd.handoff.beads_note import BeadsNote
from flowd.handoff.track.beads import TrackBeads
from flowd.handoff.track.tracks import Track
from flowd.handoff.track.workers import read_workers
from flowd.model.facts import Checkpointed
from flowd.model.session import SessionState
from flowd.system.text import and_more
from flowd.workspace.project import FOLDER

MAX_DECISIONS = 10
MAX_LEARNINGS = 5
MAX_FILES = 10


def checkpoint_note(checkpoint: Checkpointed, at: float, track: TrackBeads | None) -> BeadsNote:
    """Return the note of *checkpoint*, made at *at* while working on *track*."""
    state = checkpoint.state
    return BeadsNote(
        at=at,
        completed="; ".join(part for part in (_progress(track), state.outcome, _changed(state)) if part),
        decisions=state.decisions[-MAX_DECISIONS:],
        in_progress=_in_progress(state),
        next=state.next,
        blockers=state.blockers,
        discovered=(
            *state.learnings[-MAX_LEARNINGS:],
            *(f"open question: {text}" for text in state.questions),
        ),
        handoff=f"{_saved_at(checkpoint, track)} ({_origin(checkpoint)})",
    )


def with_workers(note: BeadsNote, project: str, track: TrackBeads | None) -> BeadsNote:
    """Return *note* with the parallel workers of *track*, if it has any."""
    if track is None:
        return note
    workers = read_workers(project, Track(project, track.track).directory)
    return note._replace(parallel_state=workers.summary, workers=workers.told) if workers.workers else note


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
    return f"{checkpoint.trigger}, session {state.session_id}{branch}"
