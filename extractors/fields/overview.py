"""The fields derived from the conversation as a whole: goal, progress, hypothesis, questions, next steps."""

from typing import Any

from flowd.extractors.fields import goal, hypothesis, next_steps, progress, questions
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import ProjectPlace

READERS = (goal, progress, hypothesis, questions, next_steps)


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return goal, progress, hypothesis, questions and next steps."""
    fields: dict[str, Any] = {}
    for reader in READERS:
        fields.update(reader.describe(memory, place))
    return fields


def reads(memory: ConversationMemory) -> tuple[object, ...]:
    """Return everything that ``describe`` reads; objects that change in place are copied."""
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
