"""``flow context``: what the agent of a task is told of the tasks before it."""

import argparse
from contextlib import closing
from typing import Any

import msgspec

from flowd.actions.context import open_store, this_project
from flowd.handoff.task_context import SIZES, TaskContext, render, render_learned
from flowd.store.database import Database
from flowd.store.knowledge.context import context_from, contexts_before, learned_gotchas
from flowd.system.errors import FlowdError

EXAMPLES = """\
examples:
  flow context task-005                      from the newest tasks, those that block it first
  flow context task-005 --from task-004      from this task only
  flow context task-005 --size complex       more of everything
"""


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "context",
        help="what a task's agent is told of the tasks before it",
        description="Print files to review, patterns to follow and warnings from the tasks before TASK.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", metavar="TASK", help="the task that is about to start")
    parser.add_argument(
        "--from", dest="sources", nargs="+", default=[], metavar="TASK", help="from these tasks"
    )
    parser.add_argument("--size", choices=SIZES, default="normal", help="how much is told (default: normal)")
    parser.add_argument("--learned", action="store_true", help="the project's severe gotchas as well")
    parser.add_argument("--project", metavar="DIR", help="of this project (default: the working directory's)")
    parser.add_argument("--json", action="store_true", help="print the blocks as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the context."""
    project = this_project(arguments.project).root
    with closing(open_store()) as database:
        contexts = _contexts(database, project, arguments)
        learned = render_learned(learned_gotchas(database, project)) if arguments.learned else ""
    if arguments.json:
        told = [context._asdict() for context in contexts]
        print(msgspec.json.format(msgspec.json.encode(told)).decode())
        return 0
    parts = [render(contexts, SIZES[arguments.size]), learned]
    print("\n".join(part for part in parts if part), end="")
    return 0


def _contexts(database: Database, project: str, arguments: argparse.Namespace) -> list[TaskContext]:
    if not arguments.sources:
        return contexts_before(database, project, arguments.task, most=SIZES[arguments.size].tasks)
    found = []
    for task in arguments.sources:
        context = context_from(database, project, task)
        if context is None:
            raise FlowdError(
                f"no valid block of {task} is known in {project}", hint="flow knowledge search --type task"
            )
        found.append(context)
    return found
