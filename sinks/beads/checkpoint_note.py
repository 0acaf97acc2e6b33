"""What a checkpoint says in a Beads note: enough for a stranger to go on."""

from pathlib import Path

from flowd.handoff.beads_note import BeadsNote
from flowd.handoff.track.beads import TrackBeads
from flowd.handoff.track.tracks import Track
from flowd.handoff.track.workers import read_workers
from flowd.model.facts import Checkpointed
from flowd.model.session import SessionState
from flowd.workspace.project import FOLDER

DECISIONS_TOLD = 10
LEARNINGS_TOLD = 5
FILES_TOLD = 10


def checkpoint_note(checkpoint: Checkpointed, at: float, track: TrackBeads | None) -> BeadsNote:
    """Return the note that tells *checkpoint*, made at *at*, in the course of *track*."""
    state = checkpoint.state
    return BeadsNote(
        at=at,
        completed="; ".join(part for part in (_progress(track), state.outcome, _changed(state)) if part),
        decisions=state.decisions[-DECISIONS_TOLD:],
        in_progress=_in_progress(state),
        next=state.next,
        blockers=state.blockers,
        discovered=(
            *state.learnings[-LEARNINGS_TOLD:],
            *(f"open question: {text}" for text in state.questions),
        ),
        handoff=f"{_saved(checkpoint, track)} ({_circumstances(checkpoint)})",
    )


def with_workers(note: BeadsNote, project: str, track: TrackBeads | None) -> BeadsNote:
    """Return *note* with the parallel workers of *track*, where it has some."""
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
    more = f" (+{len(state.files) - FILES_TOLD} more)" if len(state.files) > FILES_TOLD else ""
    return f"changed {', '.join(state.files[:FILES_TOLD])}{more}"


def _in_progress(state: SessionState) -> str:
    goal = state.goal or state.title
    tried = f"hypothesis: {state.hypothesis}" if state.hypothesis else ""
    return "; ".join(part for part in (state.now, f"goal: {goal}" if goal else "", tried) if part)


def _saved(checkpoint: Checkpointed, track: TrackBeads | None) -> str:
    if track is not None and track.section and track.handoff_file:
        return f"Section {track.section} saved at conductor/handoffs/{track.track}/{track.handoff_file}"
    if Path(checkpoint.state.project, FOLDER, "handoff.yaml").is_file():
        return f"checkpoint saved at {FOLDER}/handoff.yaml"
    return "checkpoint saved in core.db"


def _circumstances(checkpoint: Checkpointed) -> str:
    state = checkpoint.state
    branch = f", branch {state.branch}" if state.branch else ""
    return f"{checkpoint.trigger}, session {state.session_id}{branch}"
