"""``flow handoff begin``, and what the handoff verbs print about conductor tracks and their workers."""

import argparse
import sys
from typing import Any

from flowd.actions.context import Context
from flowd.actions.handoff.create import begin_epic
from flowd.actions.handoff.project import open_project
from flowd.actions.handoff.track import AskAboutWorkers, ResumedTrack, TrackCreated, WorkersChoice
from flowd.cli.output import print_json, visible
from flowd.cli.parser import add_verb
from flowd.handoff.task_context import NOT_ACCEPTED
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


def track_lines(track: ResumedTrack, shown: str | None = None) -> list[str]:
    """Return the lines about a resumed track; the steps of the handoff at *shown* are printed already."""
    tasks = f" ({track.tasks_completed} of {track.tasks_total} tasks)" if track.tasks_total else ""
    lines = [f"Track {track.name}: progress {track.progress_percent} %{tasks}"]
    lines += [f"  phase: {track.phase}"] if track.phase else []
    lines += [f"! {warning}" for warning in track.warnings]
    if mail := track.mail:
        lines += [f"  by mail from {mail.sender}: {mail.subject}"]
    if handoff := track.handoff:
        lines += [f"  last handoff ({handoff.trigger}, {handoff.age}): {handoff.path}"]
        lines += [f"  ! it {NOT_ACCEPTED}"] if handoff.not_accepted else []
        lines += [f"- [ ] {step}" for step in handoff.todos] if handoff.path != shown else []
    if beads := track.beads:
        lines += [f"  Beads {beads.id} ({beads.status}): {beads.title}"]
        lines += [f"    {line}" for line in beads.notes[:MAX_NOTE_CHARACTERS].splitlines()]
    return lines


BEGIN_EXAMPLES = """\
  flow handoff begin auth_20260101        its first open epic
  flow handoff begin auth_20260101 E2
"""


def add_begin(subparsers: Any) -> None:
    """Add ``flow handoff begin``."""
    parser = add_verb(
        subparsers,
        "begin",
        "begin an epic of a conductor track",
        "Resume a track with its Beads context and progress, and create the epic-start handoff.",
        run_begin,
        examples=BEGIN_EXAMPLES,
        json="print the track and the new handoff as JSON",
    )
    parser.add_argument("track", metavar="TRACK", help="a track below conductor/tracks")
    parser.add_argument("epic", nargs="?", default="", metavar="EPIC", help="default: the first open one")


def run_begin(arguments: argparse.Namespace) -> int:
    """Begin the epic, and print the track and the new handoff."""
    with Context() as context:
        begun = begin_epic(open_project(context), arguments.track, arguments.epic, question_about_workers())
    if arguments.json:
        print_json(begun)
    else:
        print("\n".join(map(visible, [*track_lines(begun.track), *created_lines(begun.created)])))
    return 1 if begun.created.cancelled else 0
