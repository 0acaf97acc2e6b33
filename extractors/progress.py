"""Where the work stands: what is being done now, whether it is done, and how it ended."""

import re
from typing import Any

from flowd.extractors.choices import question_in
from flowd.extractors.goal import asked
from flowd.extractors.memory import Memory
from flowd.extractors.places import local
from flowd.extractors.protocol import Place
from flowd.extractors.text import capitalised, cut, cut_at_sentence, pieces, plain, sentences
from flowd.extractors.todos import open_tasks
from flowd.store.facts import Status

LENGTH = 200
QUESTION_LENGTH = 95

OPENERS = re.compile(
    r"^(?:all (?:\w+ )?(?:tests?|checks?|green|pass\w*|done|good)\b|tests? pass|here(?:'s| is| are)|summary\b|(?:great|perfect|excellent|done|good|nice|"
    r"got it|sure|yes|no problem|absolutely|acknowledged|ok(?:ay)?)\b[^.!]{0,25}[.!]|you're (?:absolutely )?right)",
    re.IGNORECASE,
)
INTENT = re.compile(
    r"^(?:now |next,? |first,? |then |so )?(?:let me(?: also| now)?|let's|i'll(?: now| also)?|i(?:'m| am) going to|i need to|now to)\s+",
    re.IGNORECASE,
)


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return now, status and outcome."""
    status = status_of(memory)
    now = local(_now(memory), place)
    return {"now": now, "status": status, "outcome": now if status == "completed" else ""}


def status_of(memory: Memory) -> Status:
    """Return completed when the last request is done and nothing is pending, blocked while the person is asked."""
    turn = memory.turn
    if memory.open_question:
        return "blocked"
    if not turn.ended or turn.interrupted or not turn.reply or memory.queued:
        return "in_progress"
    if question_in(turn.reply):
        return "blocked"
    return "in_progress" if open_tasks(memory.todo_list()) else "completed"


def told(reply: str) -> list[str]:
    """Return the sentences of a reply that say something, in order."""
    found: list[str] = []
    for piece in pieces(reply):
        if piece.is_heading:
            continue
        for sentence in sentences(plain(piece.text)):
            if not OPENERS.match(sentence):
                found.append(sentence)
        if len(found) > 12:
            break
    return found


def _now(memory: Memory) -> str:
    turn = memory.turn
    if memory.open_question:
        return cut(f"Waiting for an answer: {memory.open_question}", LENGTH)
    if turn.ended and turn.reply:
        return _finished(turn.reply)
    if turn.interrupted and not turn.reply:
        return cut(f"Interrupted while working on: {_prompt(memory)}", LENGTH)
    return _under_way(memory)


def _finished(reply: str) -> str:
    """Return what a closing reply reports, and what it asks."""
    question = cut(question_in(reply), QUESTION_LENGTH)
    room = LENGTH - len(question) - 1 if question else LENGTH
    report = _joined([sentence for sentence in told(reply) if not sentence.endswith("?")], room)
    return f"{report} {question}".strip()


def _under_way(memory: Memory) -> str:
    """Return the step at hand, and the request it serves."""
    step = _step(memory)
    prompt = _prompt(memory)
    if not step:
        return cut(f"Working on: {prompt}", LENGTH)
    room = LENGTH - len(step) - 6
    return f"{step} — for: {cut(prompt, room)}" if prompt and room > 30 else step


def _step(memory: Memory) -> str:
    turn = memory.turn
    running = [task.subject for task in memory.todo_list() if task.status == "in_progress"]
    said = _intent(turn.reply)
    parts = [cut(running[0], 80)] if running else []
    if said:
        parts.append(cut(said, 120 if not parts else 70))
    if turn.doing and not (running and said):
        parts.append(cut(turn.doing, 70))
    return capitalised("; ".join(part.rstrip(".:;") for part in parts))


def _intent(reply: str) -> str:
    """Return the last thing a reply says it will do."""
    if not reply:
        return ""
    last = [plain(piece.text) for piece in pieces(reply) if not piece.is_heading][-2:]
    every = [sentence for text in last for sentence in sentences(text)]
    for sentence in reversed(every):
        if INTENT.match(sentence):
            return INTENT.sub("", sentence)
    return every[-1] if every else ""


def _prompt(memory: Memory) -> str:
    if memory.prompt and len(memory.prompt.text.split()) > 2:
        return asked(memory.prompt.text)
    return asked(memory.requests[-1].text) if memory.requests else ""


def _joined(parts: list[str], size: int) -> str:
    text = ""
    for part in parts:
        longer = f"{text} {part}" if text else part
        if len(longer) > size:
            return text if len(text) > size // 2 else cut(longer, size)
        text = longer
    return cut_at_sentence(text, size)
