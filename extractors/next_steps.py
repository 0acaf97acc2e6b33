"""Next steps: what the session said it would do, and what its work still lacks."""

import re
from typing import Any

from flowd.extractors.memory import Memory
from flowd.extractors.places import local
from flowd.extractors.progress import status_of
from flowd.extractors.protocol import Place
from flowd.extractors.questions import open_question
from flowd.extractors.text import capitalised, cut, pieces, plain, sentences
from flowd.extractors.todos import open_tasks

KEPT = 8
LENGTH = 200

_HEADING = re.compile(
    r"\b(?:next steps?|what's (?:left|next)|remaining|to ?do|follow[- ]ups?|still to do|action items)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:next(?: step| up)?(?: when ready)?\b|remaining\b|todo\b|still to do\b|you(?:'ll| will)? (?:still )?need to\b)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"^(?:would you like me to|do you want me to|want me to|shall i|should i|would you like to|ready to)\s+(?:also\s+|now\s+)?(.+?)\??$",
    re.IGNORECASE,
)


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return what comes next, the nearest first."""
    steps: list[str] = []
    for step in [*_said(memory), *_lacking(memory)]:
        short = capitalised(cut(local(step, place).strip(), LENGTH))
        if len(short) > 8 and not any(_alike(short, other) for other in steps):
            steps.append(short)
    return {"next": tuple(steps[:KEPT])}


def listed(reply: str) -> list[str]:
    """Return the steps that *reply* lists under a heading or in sentences about what is next."""
    steps: list[str] = []
    inside = False
    for piece in pieces(reply):
        text = plain(piece.text)
        if piece.is_heading or text.endswith(":"):
            inside = _HEADING.search(text) is not None
        elif inside or (piece.is_item and _HEADING.search(piece.lead) is not None):
            steps.append(text)
        else:
            steps += [sentence for sentence in sentences(text) if _SENTENCE.match(sentence)]
    return steps


def _said(memory: Memory) -> list[str]:
    """Return the steps that somebody named: to-do list, queue, reply, recap, summary."""
    turn = memory.turn
    steps = open_tasks(memory.todo_list()) + memory.queued
    if turn.ended:
        steps += listed(turn.reply) + _offered(memory)
    elif memory.prompt and status_of(memory) == "in_progress":
        steps.append(f"Finish: {memory.prompt.text}")
    if (
        memory.recap
        and "Next:" in memory.recap.text
        and (memory.prompt is None or memory.recap.at > memory.prompt.at)
    ):
        steps.append(memory.recap.text.partition("Next:")[2])
    if memory.summary:
        steps += [memory.summary.next_step, *memory.summary.pending]
    return steps


def _offered(memory: Memory) -> list[str]:
    question = open_question(memory)
    found = _OFFER.match(question)
    if found:
        return [f"{capitalised(found.group(1))} (offered, not answered yet)"]
    return [f"Answer: {question}"] if question else []


def _lacking(memory: Memory) -> list[str]:
    """Return the steps that the work itself calls for: checks after edits, a commit, a push."""
    steps: list[str] = []
    check, commit = memory.check, memory.commit
    if memory.edited_at > (check.at if check else 0):
        steps.append(
            f"Run the tests again ({check.command})" if check else "Run the tests to verify the edits"
        )
    elif check and not check.passed:
        steps.append(f"Fix what fails in {check.command} and run it again")
    if memory.edited_at > (commit.at if commit else 0):
        steps.append("Commit the changes: the latest edits are not committed yet")
    elif commit and commit.at > memory.pushed_at:
        steps.append(
            f"Push {commit.branch or 'the branch'} and open a pull request: {commit.subject} is only local"
        )
    return steps


def _alike(one: str, other: str) -> bool:
    mine, theirs = set(one.lower().split()), set(other.lower().split())
    return len(mine & theirs) > 0.6 * min(len(mine), len(theirs))
