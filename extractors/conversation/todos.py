"""The session's to-do list: TodoWrite of older clients, Task tools of newer ones."""

import msgspec

from flowd.extractors.conversation.tools import ToolInput
from flowd.extractors.text import cut, plain
from flowd.redaction.redactor import redact

KEPT = 30
LENGTH = 160
DONE = ("completed", "deleted", "cancelled")


class TodoItem(msgspec.Struct, array_like=True):
    """One task and its status."""

    subject: str
    status: str = "pending"


def written(given: ToolInput, former: list[TodoItem]) -> list[TodoItem]:
    """Return the list that a TodoWrite call writes in place of the *former* one."""
    known = {task.subject for task in former}  # most calls repeat entries that are plain and redacted already
    return [
        TodoItem(todo.content if todo.content in known else _short(todo.content), todo.status or "pending")
        for todo in given.todos[:KEPT]
    ]


def create(tasks: dict[str, TodoItem], given: ToolInput, number: int) -> None:
    """Add the task of a TaskCreate call under the *number* that the client will give it."""
    if given.subject:
        tasks[str(number)] = TodoItem(_short(given.subject))
        if len(tasks) > KEPT:
            del tasks[next((key for key, task in tasks.items() if task.status in DONE), next(iter(tasks)))]


def update(tasks: dict[str, TodoItem], given: ToolInput) -> None:
    """Apply a TaskUpdate call to *tasks*."""
    task = tasks.get(given.task_id)
    if task and given.status:
        task.status = given.status


def open_tasks(tasks: list[TodoItem]) -> list[str]:
    """Return the tasks in progress, then the pending ones."""
    running = [task.subject for task in tasks if task.status == "in_progress"]
    return running + [task.subject for task in tasks if task.status == "pending"]


def _short(subject: str) -> str:
    return cut(plain(redact(subject)), LENGTH)
