"""``flow next``, ``flow done`` and ``flow drop``: list, add and close the open steps of the work."""

import argparse
from collections.abc import Iterable
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.works import NumberedStep, add_step, close_step, open_steps, open_steps_everywhere
from flowd.cli.output import paint, print_json
from flowd.cli.parser import Run, add_verb
from flowd.model.work import StepAction
from flowd.system.errors import FlowdError
from flowd.system.times import age

NEXT_EXAMPLES = """\
  flow next                       what is open in this project, numbered
  flow next --all                 in every project
  flow next add "Ask Eva about rounding"
  flow done 2                     the second one is done
  flow drop 3                     the third one is not wanted any more
"""
CLOSING_EXAMPLES = """\
  flow next                the open steps, numbered
  flow {verb} 2              {example}
"""
SOURCES = {
    "todo": "to-do list",
    "plan": "plan",
    "reply": "reply",
    "request": "request",
    "offer": "offer",
    "summary": "compaction summary",
    "handoff": "handoff document",
    "block": "block",
    "bead": "bead",
    "state": "state of the files",
    "person": "you",
}


def add_next(subparsers: Any) -> None:
    """Add ``flow next``."""
    parser = add_verb(
        subparsers,
        "next",
        "list the open steps",
        "List the open steps of the work in this project, numbered, with source and age.",
        run_next,
        examples=NEXT_EXAMPLES,
        json="print the steps as JSON",
    )
    parser.add_argument("words", nargs="*", metavar="add TEXT", help="add a step in your own words")
    parser.add_argument("--all", action="store_true", help="list the steps of every project")


def run_next(arguments: argparse.Namespace) -> int:
    """Print the steps, or add one."""
    with Context() as context:
        if arguments.words:
            print(f"added: {add_step(context, find_project().root, _text(arguments.words)).text}")
            return 0
        everywhere = arguments.all
        steps = open_steps_everywhere(context) if everywhere else open_steps(context, find_project().root)
    if arguments.json:
        print_json({"steps": [_json(one) for one in steps]})
    else:
        print("\n".join(_page(steps, everywhere=everywhere)) or "nothing is open")
    return 0


def _text(words: list[str]) -> str:
    """Return the text of ``add TEXT``; raise FlowdError if it is anything else."""
    verb, *rest = words
    text = " ".join(rest).strip()
    if verb != "add" or not text:
        raise FlowdError(f"flow next does not know {verb!r}", hint='add a step with `flow next add "…"`')
    return text


def _json(one: NumberedStep) -> dict[str, Any]:
    step, work = one.step, one.work
    return {
        "n": one.n,
        "text": step.text,
        "source": step.source,
        "age_s": round(one.age_s, 1),
        "id": step.id,
        "project": work.project,
        "work": work.id,
        "goal": work.goal,
        "session_id": step.session_id,
    }


def _page(steps: list[NumberedStep], *, everywhere: bool) -> list[str]:
    lines: list[str] = []
    shown = ""
    for one in steps:
        if one.work.id != shown:
            shown = one.work.id
            place = f"{one.work.project}: " if everywhere else ""
            lines.append(paint(f"{place}{one.work.goal}", "bold"))
        at = one.step.confirmed_at or one.step.opened_at
        lines.append(f"{one.n:>3}. {one.step.text}  ({SOURCES[one.step.source]}, {age(at)})")
    return lines


def add_done(subparsers: Any) -> None:
    """Add ``flow done``."""
    _add_closing(subparsers, "done", "mark steps as done", "the second one is done", run_done)


def add_drop(subparsers: Any) -> None:
    """Add ``flow drop``."""
    about = "drop steps that are not wanted any more"
    _add_closing(subparsers, "drop", about, "the second one is not wanted any more", run_drop)


def run_done(arguments: argparse.Namespace) -> int:
    """Mark the steps as done."""
    return _close(arguments.numbers, "done")


def run_drop(arguments: argparse.Namespace) -> int:
    """Mark the steps as dropped."""
    return _close(arguments.numbers, "dropped")


def _add_closing(subparsers: Any, verb: str, about: str, example: str, run: Run) -> None:
    parser = add_verb(
        subparsers,
        verb,
        about,
        "Close open steps by the numbers that `flow next` shows.",
        run,
        examples=CLOSING_EXAMPLES.format(verb=verb, example=example),
    )
    parser.add_argument("numbers", nargs="+", type=int, metavar="N", help="the number of a step")


def _close(numbers: Iterable[int], outcome: StepAction) -> int:
    """Close the steps, the last number first, so that the others keep theirs."""
    root = find_project().root
    with Context() as context:
        for number in sorted(set(numbers), reverse=True):
            print(f"{outcome}: {close_step(context, root, number, outcome).text}")
    return 0
