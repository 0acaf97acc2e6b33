"""``flow context``: print for a task's agent what the tasks before it found out."""

import argparse
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.works import open_works
from flowd.cli.output import print_json
from flowd.cli.parser import UsageError, add_verb
from flowd.handoff.task_context import NOT_ACCEPTED, SIZES, TaskContext, render, render_learned, render_steps
from flowd.store.database import Database
from flowd.store.knowledge.context import context_from, contexts_before, learned_gotchas
from flowd.store.knowledge.graph import task_key
from flowd.store.knowledge.intake import foreign_blocks
from flowd.store.knowledge.search import find_nodes
from flowd.system.errors import FlowdError

EXAMPLES = """\
  flow context task-005                      from the newest tasks, those that block it first
  flow context task-005 --from task-004      from this task only
  flow context task-005 --size complex       more of everything
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow context``."""
    parser = add_verb(
        subparsers,
        "context",
        "print what the tasks before a task found out",
        "Print files to review, patterns to follow and warnings from the tasks before TASK.",
        run,
        examples=EXAMPLES,
        json="print the blocks as JSON",
    )
    parser.add_argument("task", metavar="TASK", help="the task that is about to start")
    parser.add_argument(
        "--from", dest="sources", nargs="+", default=[], metavar="TASK", help="from these tasks"
    )
    parser.add_argument("--size", choices=SIZES, default="normal", help="how much to print (default: normal)")
    parser.add_argument(
        "--about", default="", metavar="TEXT", help="tasks about this first (default: the task's title)"
    )
    parser.add_argument("--learned", action="store_true", help="the project's severe gotchas as well")
    parser.add_argument("--project", metavar="DIR", help="of this project (default: the working directory's)")


def run(arguments: argparse.Namespace) -> int:
    """Print the context."""
    if not arguments.task.strip():
        raise UsageError("name a task", hint="for example: flow context task-005")
    project = find_project(arguments.project).root
    with Context() as context:
        is_session = bool(context.session_id)
        contexts = _contexts(context.database, project, arguments, any_source=not is_session)
        withheld = {block.file for block in foreign_blocks(context.database, project)} if is_session else ()
        learned = render_learned(learned_gotchas(context.database, project)) if arguments.learned else ""
    if arguments.json:
        print_json([each._asdict() for each in contexts], name="contexts")
        return 0
    parts = [render(contexts, SIZES[arguments.size]), render_steps(contexts), learned]
    parts += [f"> {', '.join(sorted(withheld))}: left out, it {NOT_ACCEPTED}\n"] if withheld else []
    text = "\n".join(part for part in parts if part)
    print(text or f"no task before {arguments.task} has left a structured handoff block here\n", end="")
    return 0


def _contexts(
    database: Database, project: str, arguments: argparse.Namespace, *, any_source: bool
) -> list[TaskContext]:
    if not arguments.sources:
        most = SIZES[arguments.size].tasks
        topic = arguments.about or _title(database, project, arguments.task)
        return contexts_before(
            database, project, arguments.task, topic=topic, most=most, any_source=any_source
        )
    return [_context(database, project, task, any_source=any_source) for task in arguments.sources]


def _title(database: Database, project: str, task: str) -> str:
    """Return what the task is about as far as it is known, else the goal of the current work."""
    nodes = find_nodes(database, task_key(task), project)
    name = nodes[0].summary.partition(": ")[2] if nodes else ""
    works = [] if name else open_works(database, project).works
    return works[0].goal if works else name


def _context(database: Database, project: str, task: str, *, any_source: bool) -> TaskContext:
    found = context_from(database, project, task, any_source=any_source)
    if found is None:
        raise FlowdError(
            f"no valid block of {task} in {project}",
            hint="list tasks with `flow knowledge search --type task`",
        )
    return found
