"""Print conductor tracks, and ask about parallel workers at a terminal."""

import sys

from flowd.actions.handoff.track import AskAboutWorkers, ResumedTrack, TrackCreated, WorkersChoice
from flowd.cli.output import visible
from flowd.handoff.track.workers import Workers

CHOICES = "[A] Wait for completion\n[B] Handoff anyway (include worker state)\n[C] Cancel"
ANSWERS: dict[str, WorkersChoice] = {"a": "wait", "b": "include", "c": "cancel"}
MAX_NOTE_CHARACTERS = 1500


def question_about_workers() -> AskAboutWorkers | None:
    """Return the question to ask while parallel workers run, None if there is no terminal to ask at."""
    return ask_about_workers if sys.stdin.isatty() and sys.stdout.isatty() else None


def ask_about_workers(workers: Workers) -> WorkersChoice:
    """Ask until one of the choices is given; the end of the input cancels."""
    print(visible(f"⚠️ Parallel workers running: [{', '.join(workers.running)}]"))
    print(f"\n{CHOICES}")
    while True:
        try:
            answer = input("> ").strip().lower()
        except EOFError:
            return "cancel"
        if answer in ANSWERS:
            return ANSWERS[answer]


def created_lines(created: TrackCreated) -> list[str]:
    """Return the lines about a new track handoff: where it is, and which steps failed."""
    if created.cancelled:
        return ["handoff cancelled: parallel workers are running"]
    section = f", section {created.section}" if created.section else ""
    lines = [f"track {created.name}{section}, progress {created.progress_percent} %: {created.path}"]
    return lines + [f"! {step.name}: {step.said}" for step in created.failures]


def track_lines(track: ResumedTrack) -> list[str]:
    """Return the lines about a resumed track."""
    tasks = f" ({track.tasks_completed} of {track.tasks_total} tasks)" if track.tasks_total else ""
    lines = [f"Track {track.name}: progress {track.progress_percent} %{tasks}"]
    lines += [f"  phase: {track.phase}"] if track.phase else []
    lines += [f"! {warning}" for warning in track.warnings]
    if mail := track.mail:
        lines += [f"  by mail from {mail.sender}: {mail.subject}"]
    if handoff := track.handoff:
        lines += [f"  last handoff ({handoff.trigger}, {handoff.age}): {handoff.path}"]
        lines += [f"- [ ] {step}" for step in handoff.todos]
    if beads := track.beads:
        lines += [f"  Beads {beads.id} ({beads.status}): {beads.title}"]
        lines += [f"    {line}" for line in beads.notes[:MAX_NOTE_CHARACTERS].splitlines()]
    return lines
