"""``flow next``: the open steps of the work, numbered; ``flow next add`` adds one."""

import argparse
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.steps import NumberedStep, add_step, open_steps, open_steps_everywhere
from flowd.cli.output import paint, print_json
from flowd.cli.verb import add_verb
from flowd.system.errors import FlowdError
from flowd.system.times import age

EXAMPLES = """\
  flow next                       what is open in this project, numbered
  flow next --all                 in every project
  flow next add "Ask Eva about rounding"
  flow done 2                     the second one is done
  flow drop 3                     the third one is not wanted any more
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


def add_parser(subparsers: Any) -> None:
    """Add ``flow next``."""
    parser = add_verb(
        subparsers,
        "next",
        "list the open steps",
        "List the open steps of the work in this project, numbered, with source and age.",
        run,
        examples=EXAMPLES,
        json="print the steps as JSON",
    )
    parser.add_argument("words", nargs="*", metavar="add TEXT", help="add a step in your own words")
    parser.add_argument("--all", action="store_true", help="list the steps of every project")


def run(arguments: argparse.Namespace) -> int:
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
