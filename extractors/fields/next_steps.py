"""Next steps: those that the session named, and those that its work still needs."""

from typing import Any

from flowd.extractors.conversation.choices import is_consent, offer_in
from flowd.extractors.conversation.listing import listed
from flowd.extractors.conversation.todos import open_tasks
from flowd.extractors.fields.goal import asked
from flowd.extractors.fields.progress import announced_step, current_step
from flowd.extractors.fields.questions import open_question
from flowd.extractors.text import alike, capitalised, content_words, cut
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.paths import relative_paths
from flowd.extractors.transcript.protocol import ProjectPlace

KEPT = 8
LENGTH = 200
MIN_CHARACTERS = 8
SIMILARITY = 0.6
FORGOTTEN_AFTER_REQUESTS = 4


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the next steps, nearest first, without duplicates."""
    steps: list[str] = []
    for step in [*_named(memory, place), *_required(memory), *_later(memory)]:
        short = capitalised(cut(relative_paths(step, place).strip(), LENGTH))
        words = content_words(short)
        if len(short) > MIN_CHARACTERS and not any(
            alike(words, content_words(other), SIMILARITY) for other in steps
        ):
            steps.append(short)
    return {"next": tuple(steps[:KEPT])}


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
