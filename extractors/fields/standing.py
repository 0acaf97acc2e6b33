"""Where a conversation stands: what it is for, how far it is, what it believes, asks and does next."""

from typing import Any

from flowd.extractors.fields import goal, hypothesis, next_steps, progress, questions
from flowd.extractors.transcript.memory import Memory
from flowd.extractors.transcript.protocol import ProjectPlace

READERS = (goal, progress, hypothesis, questions, next_steps)


def describe(memory: Memory, place: ProjectPlace) -> dict[str, Any]:
    """Return goal, progress, belief, questions and what comes next."""
    fields: dict[str, Any] = {}
    for reader in READERS:
        fields.update(reader.describe(memory, place))
    return fields


def reads(memory: Memory) -> tuple[object, ...]:
    """Return everything that ``describe`` looks at; what is changed in place, by its values."""
    turn = memory.turn
    return (
        turn.reply,
        turn.doing,
        turn.ended,
        turn.interrupted,
        memory.open_question,
        memory.prompt,
        memory.requests,
        memory.queued,
        memory.edited_at,
        memory.pushed_at,
        memory.check,
        memory.commit,
        memory.title,
        memory.first,
        memory.restated,
        memory.recap,
        memory.plan,
        memory.plan_checks,
        memory.promised,
        memory.promised_at,
        memory.summary,
        [(task.subject, task.status) for task in memory.todo_list()],
        tuple(memory.findings),
    )
