"""RESUME: the last handoff of a track, what has drifted since, and the progress of the track."""

import time
from typing import NamedTuple

from flowd.config.settings import Settings
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.document import ReadHandoff, handoffs_in
from flowd.handoff.track.metadata import set_active
from flowd.handoff.track.tracks import Track, TrackProgress
from flowd.sinks.agent_mail.mailbox import ReceivedMail, latest_handoff
from flowd.sinks.beads.bd import BeadsIssue, is_issue_id
from flowd.sinks.beads.notes import read_issue
from flowd.sinks.idle_timer import touch_marker
from flowd.sinks.track.delivery import counted_progress, not_an_id, uses_beads
from flowd.system.errors import FlowdError
from flowd.system.times import age
from flowd.workspace.git import read_branch

STALE_S = 7 * 86_400.0


class TrackSummary(NamedTuple):
    """What `flow handoff resume` shows about a track."""

    track: Track
    epic: str
    mail: ReceivedMail | None
    handoff: ReadHandoff | None
    issue: BeadsIssue | None
    progress: TrackProgress
    warnings: tuple[str, ...]


def resume_track(track: Track, settings: Settings) -> TrackSummary:
    """Return the last state of the track from mail, file and Beads, and mark it active."""
    warnings: list[str] = []
    epic, progress = _progress(track, settings, warnings)
    mail = _mailed(track, settings, warnings)
    written = handoffs_in(track.project, track.handoffs)
    handoff = written[-1] if written else None
    issue = _issue_of_epic(track.project, epic, settings)
    warnings += _drifted(track, handoff)
    _mark_active(track, progress, warnings)
    return TrackSummary(track, epic, mail, handoff, issue, progress, tuple(warnings))


def _progress(track: Track, settings: Settings, warnings: list[str]) -> tuple[str, TrackProgress]:
    plan = track.plan()
    by_plan = TrackProgress(plan.done, plan.total, plan.current)
    if track.is_general:
        return "", by_plan
    try:
        epic = track.metadata().epic
    except HandoffError as error:
        warnings.append(str(error))
        return "", by_plan
    if epic and not is_issue_id(epic):
        warnings.append(not_an_id(epic))
        return "", by_plan
    counted = counted_progress(track.project, epic, settings)
    return epic, counted._replace(phase=plan.current) if counted else by_plan


def _mailed(track: Track, settings: Settings, warnings: list[str]) -> ReceivedMail | None:
    try:
        return _mailed_handoff(track.project, track.name, _last_epic(track), settings)
    except (FlowdError, OSError) as error:
        warnings.append(f"Agent Mail unavailable - using file-based handoffs only ({error})")
        return None


def _last_epic(track: Track) -> str:
    """Return the epic that the track's history named last; it has its own mail thread."""
    try:
        history = () if track.is_general else track.metadata().handoff.history
    except HandoffError:
        return ""
    return next((entry.bead_id for entry in reversed(history) if entry.bead_id), "")


def _drifted(track: Track, handoff: ReadHandoff | None) -> list[str]:
    if handoff is None:
        return []
    found = []
    branch = read_branch(track.project)
    if branch and handoff.branch and branch != handoff.branch:
        found.append(f"Branch mismatch: was {handoff.branch}, now {branch}")
    if time.time() - handoff.at > STALE_S:
        found.append(f"Stale: written {age(handoff.at)}")
    return found


def _mark_active(track: Track, progress: TrackProgress, warnings: list[str]) -> None:
    touch_marker(track.project, time.time())
    if not track.has_metadata:
        return
    try:
        set_active(track.project, track.directory, progress.percent)
    except HandoffError as error:
        warnings.append(f"metadata.json: {error}")


def _issue_of_epic(project: str, epic: str, settings: Settings) -> BeadsIssue | None:
    """Return the issue as bd shows it, None if there is none."""
    if not epic or not uses_beads(project, settings):
        return None
    return next(iter(read_issue(project, epic, settings.beads).issues), None)


def _mailed_handoff(project: str, track: str, epic: str, settings: Settings) -> ReceivedMail | None:
    """Return the newest handoff mailed about *track* or its *epic*; raise if the server cannot be reached."""
    threads = dict.fromkeys(("", epic))
    found = [latest_handoff(project, track, settings.agent_mail, epic=name) for name in threads]
    return max((mail for mail in found if mail), key=lambda mail: mail.created_at, default=None)
