"""Open questions and blockers."""

from typing import Any

from flowd.extractors.conversation.choices import question_in
from flowd.extractors.fields.progress import status_of
from flowd.extractors.text import cut
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.paths import relative_paths
from flowd.extractors.transcript.protocol import ProjectPlace

LENGTH = 300


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the unanswered questions and the blockers."""
    question = relative_paths(cut(open_question(memory), LENGTH), place)
    blockers = [f"Waiting for an answer: {question}"] if question and status_of(memory) == "blocked" else []
    if memory.check and not memory.check.passed and memory.turn.ended:
        blockers.append(f"The last run of {memory.check.command} failed.")
    return {"questions": (question,) if question else (), "blockers": tuple(blockers)}


def open_question(memory: ConversationMemory) -> str:
    """Return the unanswered question, empty if there is none."""
    if memory.open_question:
        return memory.open_question
    return question_in(memory.turn.reply) if memory.turn.ended else ""
