"""The fields derived from the conversation as a whole: goal, progress, hypothesis, questions, next steps."""

import re
from typing import Any

from flowd.extractors.conversation.choices import is_consent, offer_in, question_in
from flowd.extractors.conversation.plans import open_tasks
from flowd.extractors.conversation.replies import listed
from flowd.extractors.fields.progress import (
    announced_step,
    asked,
    current_step,
    describe_goal,
    describe_progress,
    status_of,
)
from flowd.extractors.text import (
    alike,
    capitalised,
    content_words,
    cut,
    cut_at_sentence,
    pieces,
    plain,
    sentences,
)
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import ProjectPlace, relative_paths

MAX_QUESTION = 300
MAX_HYPOTHESIS = 200

BELIEF = re.compile(
    r"\b(?:likely|probably|suspect|might be|may be|could be|seems to|appears to|must be|root cause"
    r"|the (?:issue|problem|cause|culprit|reason) is|that's why|because|hypothesis)\b",
    re.IGNORECASE,
)
FAULT = re.compile(
    r"\b(?:bugs?|errors?|fail\w*|broken|wrong|incorrect\w*|unexpected\w*|crash\w*|hang\w*|slow|delay|leak\w*"
    r"|flaky|not work\w*|doesn't work|undercount\w*|exit status|accurate|never)\b",
    re.IGNORECASE,
)
MAX_STEPS = 8
MAX_STEP = 200
MIN_CHARACTERS = 8
SIMILARITY = 0.6
FORGOTTEN_AFTER_REQUESTS = 4


def describe_questions(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the unanswered questions and the blockers."""
    question = relative_paths(cut(open_question(memory), MAX_QUESTION), place)
    blockers = [f"Waiting for an answer: {question}"] if question and status_of(memory) == "blocked" else []
    if memory.check and not memory.check.passed and memory.turn.ended:
        blockers.append(f"The last run of {memory.check.command} failed.")
    return {"questions": (question,) if question else (), "blockers": tuple(blockers)}


def open_question(memory: ConversationMemory) -> str:
    """Return the unanswered question, empty if there is none."""
    if memory.open_question:
        return memory.open_question
    return question_in(memory.turn.reply) if memory.turn.ended else ""


def describe_hypothesis(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the hypothesis while work is in progress, else an empty one."""
    if status_of(memory) != "in_progress":
        return {"hypothesis": ""}
    return {"hypothesis": relative_paths(believed(memory.turn.reply) or _found(memory), place)}


def believed(reply: str) -> str:
    """Return the last sentence of *reply* that names a suspected cause."""
    for piece in reversed(list(pieces(reply))):
        stated = sentences(plain(piece.text))
        for sentence in reversed(stated):
            if BELIEF.search(sentence) and not sentence.endswith(("?", "!")):
                return cut_at_sentence(sentence, MAX_HYPOTHESIS)
    return ""


def _found(memory: ConversationMemory) -> str:
    """Return the latest learning if one of the last two requests reports a fault."""
    if not any(FAULT.search(request.text) for request in memory.requests[-2:]):
        return ""
    learnt = [one.text for one in memory.findings if one.category == "learning"]
    return cut_at_sentence(learnt[-1], MAX_HYPOTHESIS) if learnt else ""


def describe_next_steps(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the next steps, nearest first, without duplicates."""
    steps: list[str] = []
    for step in [*_named(memory, place), *_required(memory), *_later(memory)]:
        short = capitalised(cut(relative_paths(step, place).strip(), MAX_STEP))
        words = content_words(short)
        if len(short) > MIN_CHARACTERS and not any(
            alike(words, content_words(other), SIMILARITY) for other in steps
        ):
            steps.append(short)
    return {"next": tuple(steps[:MAX_STEPS])}


def _named(memory: ConversationMemory, place: ProjectPlace) -> list[str]:
    """Return the steps named in the to-do list, the queue, the reply, the recap or the summary."""
    tasks = open_tasks(memory.todo_list())
    steps = tasks + memory.queued
    summary = memory.summary if memory.summary and not _since(memory, memory.summary.at) else None
    if memory.turn.ended:
        steps += listed(memory.turn.reply) + _offered(memory)
    else:
        steps += [
            announced_step(memory) or current_step(memory, place),
            "" if summary or tasks else _to_finish(memory),
        ]
    if summary:
        steps += [summary.next_step, *summary.pending]
    if memory.recap and not _since(memory, memory.recap.at):
        steps.append(memory.recap.text.partition("Next:")[2])
    return steps


def _offered(memory: ConversationMemory) -> list[str]:
    question = open_question(memory)
    offer = offer_in(question)
    if offer:
        return [f"{offer} (offered, not answered yet)"]
    return [f"Answer: {question}"] if question else []


def _required(memory: ConversationMemory) -> list[str]:
    """Return the steps that the work itself requires: checks after edits, a commit, a push."""
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
        where = commit.branch or "the branch"
        steps.append(f"Push {where} and open a pull request: {commit.subject.rstrip('.')} is only local")
    return steps


def _later(memory: ConversationMemory) -> list[str]:
    """Return steps named earlier and still open: promises, and the checks of the plan."""
    forgotten = _since(memory, memory.promised_at) > FORGOTTEN_AFTER_REQUESTS
    steps = [] if forgotten or memory.turn.ended else memory.promised
    if memory.summary and _since(memory, memory.summary.at):
        steps = [*steps, *memory.summary.pending]
    return [*steps, *memory.plan_checks] if memory.plan and not memory.check else steps


def _since(memory: ConversationMemory, at: int) -> int:
    return sum(request.at > at for request in memory.requests)


def _to_finish(memory: ConversationMemory) -> str:
    """Return "Finish: …" for the current request; a mere consent refers to the request before it."""
    prompt = memory.prompt.text if memory.prompt else ""
    if len(prompt.split()) < 2 or is_consent(prompt):
        prompt = memory.requests[-1].text if memory.requests else ""
    return f"Finish: {asked(prompt)}" if prompt else ""


READERS = (
    describe_goal,
    describe_progress,
    describe_hypothesis,
    describe_questions,
    describe_next_steps,
)


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return goal, progress, hypothesis, questions and next steps."""
    fields: dict[str, Any] = {}
    for read in READERS:
        fields.update(read(memory, place))
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
