"""A command's side of the conductor: the handoff made in its track, and what is told of the track."""

import sys
import time
from collections.abc import Callable
from typing import Any

from flowd.actions.context import current_session, settings_in_force
from flowd.cli.output import visible
from flowd.config.settings import ConductorSettings
from flowd.handoff.track.rules import PRIORITIES, read_rules
from flowd.handoff.track.tracks import Track, choose_track, has_conductor, named_track, tracks_of
from flowd.handoff.track.workers import Workers, read_workers
from flowd.model.facts import Checkpointed, Fact
from flowd.sinks.track.create import Creation, CreationResult
from flowd.sinks.track.delivery import DeliverNow
from flowd.sinks.track.resume import TrackSummary, resume_track
from flowd.store.journal import Journal
from flowd.store.user_fields import bound_track
from flowd.system.errors import FlowdError
from flowd.system.times import age

LOOK_AGAIN_S = 0.5
CHOICES = "[A] Wait for completion\n[B] Handoff anyway (include worker state)\n[C] Cancel"


class WorkersChoice:
    """Asks at a terminal; without one, or where the project wants quiet, it follows the setting."""

    def __init__(self, settings: ConductorSettings, look: Callable[[], Workers], *, quiet: bool) -> None:
        self._settings = settings
        self._look = look
        self._asks = not quiet and sys.stdin.isatty() and sys.stdout.isatty()

    def __call__(self, workers: Workers) -> bool:
        """Say whether the handoff is to be made."""
        if not self._asks:
            if self._settings.parallel == "wait":
                self._wait()
            return self._settings.parallel != "cancel"
        while workers.running:
            answer = _ask(workers)
            if answer != "a":
                return answer == "b"
            workers = self._wait()
        return True

    def _wait(self) -> Workers:
        """Return the workers when none runs any more, or as they are when the setting's time is over."""
        deadline = time.monotonic() + self._settings.parallel_wait_s
        while (workers := self._look()).running and time.monotonic() < deadline:
            time.sleep(LOOK_AGAIN_S)
        return workers


def _ask(workers: Workers) -> str:
    print(visible(f"⚠️ Parallel workers running: [{', '.join(workers.running)}]"))
    print(f"\n{CHOICES}")
    while True:
        try:
            answer = input("> ").strip().lower()
        except EOFError:
            return "c"
        if answer in ("a", "b", "c"):
            return answer


NOTES_SHOWN = 1500


def meant_track(journal: Journal, root: str, name: str = "") -> Track | None:
    """Return the track called *name*, else the one being worked on; None without a conductor."""
    if name and (not has_conductor(root) or named_track(root, name) is None):
        known = ", ".join(track.name for track in tracks_of(root)) or "none"
        raise FlowdError(f"no track is named {name!r}", hint=f"tracks here: {known}")
    if not has_conductor(root) or not settings_in_force().conductor.enabled:
        return None
    return choose_track(root, name or bound_track(journal, current_session()))


def create_in_track(track: Track | None, fact: Fact) -> CreationResult | None:
    """Make the conductor's handoff of *fact*; None without a conductor or for a trigger it does not know."""
    checkpoint = fact.body
    if track is None or not isinstance(checkpoint, Checkpointed) or checkpoint.trigger not in PRIORITIES:
        return None
    settings = settings_in_force()
    decide = WorkersChoice(
        settings.conductor,
        lambda: read_workers(track.project, track.directory),
        quiet=read_rules(track.project).quiet,
    )
    author = "agent" if current_session() else "human"
    couriers = DeliverNow(settings)
    return Creation(
        track.project, checkpoint, fact.at, settings, couriers, decide=decide, author=author
    ).run()


def created_view(created: CreationResult) -> dict[str, Any]:
    """Return what came of a handoff, for programs."""
    return {
        "name": created.track,
        "path": created.path,
        "section": created.section,
        "progress_percent": created.progress.percent,
        "cancelled": created.is_cancelled,
        "steps": [step._asdict() for step in created.steps],
    }


def created_lines(created: CreationResult) -> list[str]:
    """Return what came of a handoff, for people: where it is, and what went wrong."""
    if created.is_cancelled:
        return ["handoff cancelled: parallel workers run"]
    section = f", section {created.section}" if created.section else ""
    lines = [f"track {created.track}{section}, progress {created.progress.percent} %: {created.path}"]
    return lines + [f"! {step.name}: {step.said}" for step in created.failures]


def taken_up(track: Track) -> dict[str, Any]:
    """Take *track* up and return what is known of it, for programs."""
    return _resumed_view(resume_track(track, settings_in_force()))


def _resumed_view(resumed: TrackSummary) -> dict[str, Any]:
    handoff, issue, mail = resumed.handoff, resumed.issue, resumed.mail
    return {
        "name": resumed.track.name,
        "progress_percent": resumed.progress.percent,
        "tasks_completed": resumed.progress.done,
        "tasks_total": resumed.progress.total,
        "phase": resumed.progress.phase.title if resumed.progress.phase else "",
        "warnings": list(resumed.warnings),
        "handoff": {
            "path": handoff.path,
            "trigger": handoff.trigger,
            "age": age(handoff.at),
            "todos": handoff.next_steps,
        }
        if handoff
        else None,
        "beads": {"id": issue.id, "title": issue.title, "status": issue.status, "notes": issue.notes or ""}
        if issue
        else None,
        "mail": {"subject": mail.subject, "from": mail.sender, "at": mail.created_at, "body": mail.body}
        if mail
        else None,
    }


def taken_up_lines(view: dict[str, Any]) -> list[str]:
    """Return the view of a track for people."""
    tasks = f" ({view['tasks_completed']} of {view['tasks_total']} tasks)" if view["tasks_total"] else ""
    lines = [f"Track {view['name']}: progress {view['progress_percent']} %{tasks}"]
    lines += [f"  phase: {view['phase']}"] if view["phase"] else []
    lines += [f"! {warning}" for warning in view["warnings"]]
    if mail := view["mail"]:
        lines += [f"  by mail from {mail['from']}: {mail['subject']}"]
    if handoff := view["handoff"]:
        lines += [f"  last handoff ({handoff['trigger']}, {handoff['age']}): {handoff['path']}"]
        lines += [f"- [ ] {step}" for step in handoff["todos"]]
    if beads := view["beads"]:
        lines += [f"  Beads {beads['id']} ({beads['status']}): {beads['title']}"]
        lines += [f"    {line}" for line in beads["notes"][:NOTES_SHOWN].splitlines()]
    return lines
