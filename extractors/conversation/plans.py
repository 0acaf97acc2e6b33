"""Plans of a session: the plan that a prompt or tool call carries, and the to-do list."""

import re

import msgspec

from flowd.extractors.conversation.tools import ToolInput
from flowd.extractors.text import cut, pieces, plain
from flowd.redaction.redactor import redact

MAX_TASKS = 30
MAX_SUBJECT = 160
DONE = ("completed", "deleted", "cancelled")
MAX_CHECKS = 6
MAX_OUTLINE = 10

_PREFACE = re.compile(
    r"^(?:please )?(?:implement|execute|follow|carry out) (?:the following|this|the) plan:?\s*", re.IGNORECASE
)
_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_TITLE_PREFIX = re.compile(r"^(?:implementation )?plan(?: for)?\s*[:—-]\s*", re.IGNORECASE)
_NUMBERED_HEADING = re.compile(
    r"^#{2,4}\s+(?:(?:step|phase|task|part)\s+)?\d{1,2}\s*[.:)—-]+\s*(.+)$", re.MULTILINE | re.IGNORECASE
)
_STEPS = re.compile(r"\b(?:steps?|plan|tasks|phases|implementation|changes|order)\b", re.IGNORECASE)
_CHECKING = re.compile(r"verif|test plan|testing|validation", re.IGNORECASE)


class TodoItem(msgspec.Struct, array_like=True):
    """One task and its status."""

    subject: str
    status: str = "pending"


def written_tasks(given: ToolInput, former: list[TodoItem]) -> list[TodoItem]:
    """Return the list that a TodoWrite call writes in place of the *former* one."""
    known = {task.subject for task in former}  # most calls repeat entries that are plain and redacted already
    return [
        TodoItem(todo.content if todo.content in known else _short(todo.content), todo.status or "pending")
        for todo in given.todos[:MAX_TASKS]
    ]


def create_task(tasks: dict[str, TodoItem], given: ToolInput, number: int) -> None:
    """Add the task of a TaskCreate call under the *number* that the client will give it."""
    if given.subject:
        tasks[str(number)] = TodoItem(_short(given.subject))
        if len(tasks) > MAX_TASKS:
            del tasks[next((key for key, task in tasks.items() if task.status in DONE), next(iter(tasks)))]


def update_task(tasks: dict[str, TodoItem], given: ToolInput) -> None:
    """Apply a TaskUpdate call to *tasks*."""
    task = tasks.get(given.task_id)
    if task and given.status:
        task.status = given.status


def open_tasks(tasks: list[TodoItem]) -> list[str]:
    """Return the tasks in progress, then the pending ones."""
    running = [task.subject for task in tasks if task.status == "in_progress"]
    return running + [task.subject for task in tasks if task.status == "pending"]


def _short(subject: str) -> str:
    return cut(plain(redact(subject)), MAX_SUBJECT)


def is_plan(prompt: str) -> bool:
    """Return True if a prompt contains a plan to implement."""
    return _PREFACE.match(prompt) is not None


def plan_title(plan: str) -> str:
    """Return the title of a plan, or its first line."""
    text = _PREFACE.sub("", plan.strip())
    found = _TITLE.search(text)
    line = found.group(1) if found else text.split("\n", 1)[0]
    return cut(redact(_TITLE_PREFIX.sub("", plain(line))), 200)


def plan_outline(plan: str) -> list[str]:
    """Return the steps of a plan: its numbered headings, else the numbered items of its section on steps."""
    headings = [_step_text(match) for match in _NUMBERED_HEADING.finditer(plan)]
    if len(headings) > 1:
        return headings[:MAX_OUTLINE]
    steps: list[str] = []
    inside = False
    for piece in pieces(plan):
        if piece.is_heading:
            inside = _STEPS.search(piece.text) is not None
        elif inside and piece.is_item and piece.text[:1].isdigit():
            steps.append(cut(redact(plain(piece.text)), 200))
    return steps[:MAX_OUTLINE]


def _step_text(heading: re.Match[str]) -> str:
    return cut(redact(plain(heading.group(1))), 200)


def plan_checks(plan: str) -> list[str]:
    """Return the steps of the plan's verification section."""
    steps: list[str] = []
    inside = False
    for piece in pieces(plan):
        if piece.is_heading:
            inside = _CHECKING.search(piece.text) is not None
        elif inside:
            steps.append(cut(redact(plain(piece.text)), 200))
    return steps[:MAX_CHECKS]
