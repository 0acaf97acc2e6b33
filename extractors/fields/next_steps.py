"""Next steps: what the session said it would do, and what its work still lacks."""

from typing import Any

from flowd.extractors.conversation.choices import is_consent, offer_in
from flowd.extractors.conversation.listing import listed
from flowd.extractors.conversation.todos import open_tasks
from flowd.extractors.fields.goal import asked
from flowd.extractors.fields.progress import meant, step_of
from flowd.extractors.fields.questions import open_question
from flowd.extractors.text import alike, capitalised, content_words, cut
from flowd.extractors.transcript.memory import Memory
from flowd.extractors.transcript.paths import local
from flowd.extractors.transcript.protocol import ProjectPlace

KEPT = 8
LENGTH = 200
SHORTEST = 8
LIKENESS = 0.6
FORGOTTEN_AFTER_REQUESTS = 4


def describe(memory: Memory, place: ProjectPlace) -> dict[str, Any]:
    """Return what comes next, the nearest first."""
    steps: list[str] = []
    for step in [*_said(memory, place), *_lacking(memory), *_later(memory)]:
        short = capitalised(cut(local(step, place).strip(), LENGTH))
        words = content_words(short)
        if len(short) > SHORTEST and not any(alike(words, content_words(other), LIKENESS) for other in steps):
            steps.append(short)
    return {"next": tuple(steps[:KEPT])}


def _said(memory: Memory, place: ProjectPlace) -> list[str]:
    """Return the steps that somebody named: to-do list, queue, reply, recap, summary."""
    tasks = open_tasks(memory.todo_list())
    steps = tasks + memory.queued
    summary = memory.summary if memory.summary and not _since(memory, memory.summary.at) else None
    if memory.turn.ended:
        steps += listed(memory.turn.reply) + _offered(memory)
    else:
        steps += [meant(memory) or step_of(memory, place), "" if summary or tasks else _to_finish(memory)]
    if summary:
        steps += [summary.next_step, *summary.pending]
    if memory.recap and not _since(memory, memory.recap.at):
        steps.append(memory.recap.text.partition("Next:")[2])
    return steps


def _offered(memory: Memory) -> list[str]:
    question = open_question(memory)
    offer = offer_in(question)
    if offer:
        return [f"{offer} (offered, not answered yet)"]
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
        where = commit.branch or "the branch"
        steps.append(f"Push {where} and open a pull request: {commit.subject.rstrip('.')} is only local")
    return steps


def _later(memory: Memory) -> list[str]:
    """Return the steps that were named earlier and not taken up since: promises, the plan's own checks."""
    forgotten = _since(memory, memory.promised_at) > FORGOTTEN_AFTER_REQUESTS
    steps = [] if forgotten or memory.turn.ended else memory.promised
    if memory.summary and _since(memory, memory.summary.at):
        steps = [*steps, *memory.summary.pending]
    return [*steps, *memory.plan_checks] if memory.plan and not memory.check else steps


def _since(memory: Memory, at: int) -> int:
    return sum(request.at > at for request in memory.requests)


def _to_finish(memory: Memory) -> str:
    """Return that the request at hand is to be finished; a short prompt counts when it asks for something."""
    prompt = memory.prompt.text if memory.prompt else ""
    if len(prompt.split()) < 2 or is_consent(prompt):
        prompt = memory.requests[-1].text if memory.requests else ""
    return f"Finish: {asked(prompt)}" if prompt else ""
