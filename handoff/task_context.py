"""Render the context of earlier tasks for the next agent: the specification's markdown, within limits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flowd.model.block import Dependency, Gotcha, HandoffBlock, OpenQuestion, Pattern, TaskRef
from flowd.system.text import one_line


class Limits(NamedTuple):
    """How many entries of each kind are rendered."""

    files: int
    patterns: int
    gotchas: int
    tasks: int


SIZES = {
    "easy": Limits(files=5, patterns=3, gotchas=2, tasks=2),
    "normal": Limits(files=10, patterns=5, gotchas=3, tasks=4),
    "complex": Limits(files=20, patterns=10, gotchas=5, tasks=8),
}
# Tried in turn until a task's context fits what is left of a budget.
_SHRINKING = (SIZES["normal"], SIZES["easy"], Limits(2, 1, 1, 1), Limits(0, 0, 1, 1))


# How words are marked that came with a repository.
NOT_ACCEPTED = "came with the repository and is not accepted: run `flow trust` to read and accept it"


class TaskContext(NamedTuple):
    """A finished task and its block; ``foreign_file`` names the task file if that is not accepted."""

    task: TaskRef
    block: HandoffBlock
    foreign_file: str = ""


def render(contexts: Sequence[TaskContext], limits: Limits = SIZES["normal"]) -> str:
    """Return the context of the first tasks, each exactly as the specification lays it out."""
    return "\n".join(render_task(context, limits) for context in contexts[: limits.tasks])


def render_within(contexts: Sequence[TaskContext], budget_bytes: int) -> str:
    """Return what of *contexts* fits into *budget_bytes* of UTF-8, the first tasks in full before others."""
    text = ""
    for context in contexts[: SIZES["normal"].tasks]:
        for limits in _SHRINKING:
            addition = ("\n" if text else "") + render_task(context, limits, leave_out_empty=True)
            if len((text + addition).encode()) <= budget_bytes:
                text += addition
                break
        else:
            break
    return text


def render_task(context: TaskContext, limits: Limits, *, leave_out_empty: bool = False) -> str:
    """Return one task's context; *leave_out_empty* also leaves out the headings that have nothing below."""
    block = context.block
    sections = [
        (FILES_HEADER, [_file(file) for file in block.dependencies_for_next[: limits.files]]),
        (
            ["### Patterns to Follow"],
            [_pattern(each) for each in block.patterns_discovered[: limits.patterns]],
        ),
        (["### Warnings"], [_warning(gotcha) for gotcha in warnings(block.gotchas, limits.gotchas)]),
    ]
    if leave_out_empty:
        sections = [section for section in sections if section[1]]
    questions = [_question(question) for question in block.open_questions if question.blocking]
    if questions:
        sections.append((["### Blocking Questions"], questions))
    lines = [_title(context.task)]
    if context.foreign_file:
        lines += ["", f"> {one_line(context.foreign_file)} {NOT_ACCEPTED}"]
    for header, items in sections:
        lines += ["", *header, *items]
    return "\n".join(lines) + "\n"


def warnings(gotchas: Iterable[Gotcha], most: int) -> list[Gotcha]:
    """Return up to *most* gotchas worth a warning, in their order; the severe ones are kept first."""
    worthy = [gotcha for gotcha in gotchas if gotcha.severity != "low"]
    kept = sorted(worthy, key=lambda gotcha: gotcha.severity != "high")[:most]
    return [gotcha for gotcha in worthy if gotcha in kept]


def render_steps(contexts: Iterable[TaskContext]) -> str:
    """Return the next steps that the tasks suggest, for the breakdown of the task that starts."""
    steps = [
        f"- {one_line(step.step)} ({step.priority}, from task {context.task.id})"
        for context in contexts
        for step in context.block.suggested_next_steps
    ]
    return "\n".join(["## Suggested Next Steps", "", *steps]) + "\n" if steps else ""


def render_learned(gotchas: Iterable[Gotcha]) -> str:
    """Return severe gotchas as the learned context of the orchestrator's memory."""
    items = [f"- {_advice(gotcha)}" for gotcha in gotchas]
    return "\n".join(["## Learned Context", "", "### Gotchas & Warnings", *items]) + "\n" if items else ""


FILES_HEADER = ["### Files to Review", "| File | Reason |", "|------|--------|"]


def _title(task: TaskRef) -> str:
    return f"## From Task {task.id}: {task.name}" if task.name else f"## From Task {task.id}"


def _file(file: Dependency) -> str:
    return f"| {_cell(file.file)} | {_cell(file.reason)} |"


def _pattern(pattern: Pattern) -> str:
    where = f" (see: {one_line(pattern.location)})" if pattern.location else ""
    return f"- **{one_line(pattern.pattern)}**{where}"


def _warning(gotcha: Gotcha) -> str:
    return f"- ⚠️ {_advice(gotcha)}"


def _advice(gotcha: Gotcha) -> str:
    advice = f": {one_line(gotcha.mitigation)}" if gotcha.mitigation else ""
    return one_line(gotcha.issue) + advice


def _question(question: OpenQuestion) -> str:
    answer = f" (suggested: {one_line(question.recommendation)})" if question.recommendation else ""
    return f"- {one_line(question.question)}{answer}"


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
