"""The evidence of work: requests and results, steps left open, what was edited, committed and pushed."""

from typing import Any

import msgspec

from flowd.extractors.conversation import ledger
from flowd.extractors.conversation.choices import is_consent, offer_at_end
from flowd.extractors.conversation.plans import open_tasks
from flowd.extractors.fields.progress import asked
from flowd.extractors.text import capitalised, cut
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import ProjectPlace, relative_paths
from flowd.extractors.work.likeness import is_same_step, says_little
from flowd.model.session import CommitMade, Deeds, Evidence, OpenStep, TurnSummary
from flowd.system.times import seconds

MAX_STEPS = 16
MAX_CLOSINGS = 24
STEP_LENGTH = 200
TOPIC_LENGTH = 200
# In turns and in requests: so many went by without a word about a step.
LEFT_BEHIND_AFTER = 6
LEFT_BEHIND_AFTER_SUMMARY = 4


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the session's evidence."""
    books = memory.ledger
    turns, closings, named = _turns(memory)
    found = Evidence(
        topic=relative_paths(_topic(memory), place),
        request=relative_paths(_last_request(memory), place),
        requests=books.requests,
        continues=books.continues,
        plan=memory.plan.text if memory.plan else "",
        todos=len(memory.todo_list()),
        answers=books.answers,
        refs=tuple(books.refs),
        deeds=_deeds(memory),
        steps=_steps(memory, named, closings, place),
        closings=tuple(relative_paths(one, place) for one in dict.fromkeys(closings))[-MAX_CLOSINGS:],
        turns=tuple(_summary(turn, place) for turn in turns),
        commits=tuple(CommitMade(one.hash, one.subject, seconds(one.on), one.about) for one in books.commits),
        tasks_done=tuple(task.subject for task in memory.todo_list() if task.status == "completed"),
        outline=tuple(books.outline),
    )
    return {"evidence": found}


def reads(memory: ConversationMemory) -> tuple[object, ...]:
    """Return everything that ``describe`` looks at; what is changed in place, by its values."""
    books, turn = memory.ledger, memory.turn
    return (
        turn.reply,
        turn.ended,
        turn.interrupted,
        memory.prompt,
        memory.plan,
        memory.summary,
        memory.recap,
        memory.queued,
        memory.check,
        memory.title,
        memory.first,
        [(task.subject, task.status) for task in memory.todo_list()],
        (books.asked, books.edited_on, books.committed_on, books.pushed_on, books.checked_on),
        (books.requests, books.continues, books.answers),
        tuple(books.steps),
        tuple(books.turns),
        tuple(books.refs),
    )


def _turns(memory: ConversationMemory) -> tuple[list[ledger.TurnNote], list[str], list[ledger.StepNote]]:
    """Return the turns with the one at hand, all that was closed, and the named steps still open."""
    books = memory.ledger
    if not books.asked or not memory.turn.reply:
        return books.turns, books.closings, books.steps
    note, closings = ledger.turn_note(memory)
    reply = memory.turn.reply if memory.turn.ended else ""
    left = ledger.still_open(books, note, closings, reply)
    return [*books.turns, note], [*books.closings, *closings], left


def _summary(turn: ledger.TurnNote, place: ProjectPlace) -> TurnSummary:
    return TurnSummary(
        relative_paths(asked(turn.request), place),
        relative_paths(turn.result, place),
        seconds(turn.on),
        turn.is_done,
    )


def _last_request(memory: ConversationMemory) -> str:
    """Return what the person last asked for; a mere "yes" or "commit" belongs to the request before it."""
    real = [one for one in memory.requests if not ledger.is_continuation(one.text)]
    if real:
        return real[-1].text
    return memory.prompt.text if memory.prompt else memory.ledger.asked


def _topic(memory: ConversationMemory) -> str:
    """Return what the session is for: its plan, its request in a summary, or its first request."""
    plan, summary = memory.plan, memory.summary
    if plan and (summary is None or plan.at > summary.at):
        return plan.text
    if memory.first and not ledger.is_continuation(memory.first.text):
        return cut(asked(memory.first.text), TOPIC_LENGTH)
    if summary and summary.request:
        return cut(summary.request, TOPIC_LENGTH)
    later = [one.text for one in memory.requests if not ledger.is_continuation(one.text)]
    if later:
        return cut(asked(later[0]), TOPIC_LENGTH)
    begun = [turn.request for turn in memory.ledger.turns] + [memory.ledger.asked]
    return next((cut(one, TOPIC_LENGTH) for one in begun if one and not ledger.is_continuation(one)), "")


def _deeds(memory: ConversationMemory) -> Deeds:
    books, check, commit = memory.ledger, memory.check, memory.commit
    return Deeds(
        edited_at=seconds(books.edited_on),
        committed_at=seconds(books.committed_on),
        pushed_at=seconds(books.pushed_on),
        checked_at=seconds(books.checked_on),
        check=check.command if check else "",
        check_passed=check.passed if check else True,
        commit_branch=commit.branch if commit else "",
    )


def _steps(
    memory: ConversationMemory, named: list[ledger.StepNote], closings: list[str], place: ProjectPlace
) -> tuple[OpenStep, ...]:
    """Return what is open, the surest source first; the same step once."""
    steps = [*_tasks(memory), *_request(memory), *_queued(memory)]
    if (
        memory.todo_list() or not memory.turn.ended
    ):  # the list, or the request itself, takes the place of the plan
        named = [step for step in named if step.source != "plan"]
    named = [step for step in named if not _is_left_behind(step, memory)]
    steps += [_open_step(step) for step in named]
    steps += [
        step for step in _summarised(memory) if not any(ledger.closes(one, step.text) for one in closings)
    ]
    steps += _offered(memory)
    kept: list[OpenStep] = []
    for step in steps:
        text = capitalised(cut(relative_paths(step.text, place).strip(), STEP_LENGTH))
        if not any(is_same_step(text, other.text) for other in kept):
            kept.append(msgspec.structs.replace(step, text=text))
    return tuple(kept[:MAX_STEPS])


def _open_step(step: ledger.StepNote) -> OpenStep:
    number = step.number if step.source == "plan" else 0
    return OpenStep(step.text, step.source, seconds(step.on), number)  # type: ignore[arg-type]  # written by take_steps


def _now(memory: ConversationMemory) -> float:
    return seconds(memory.ledger.asked_on)


def _tasks(memory: ConversationMemory) -> list[OpenStep]:
    return [OpenStep(task, "todo", _now(memory)) for task in open_tasks(memory.todo_list())]


def _request(memory: ConversationMemory) -> list[OpenStep]:
    """Return the request at hand while it is worked on; one whose turn has committed is taken as done."""
    books, turn = memory.ledger, memory.turn
    is_over = turn.ended and not turn.interrupted
    if is_over or not books.asked or _is_settled(memory) or open_tasks(memory.todo_list()):
        return []
    request = _last_request(memory) if is_consent(books.asked) else books.asked
    return [OpenStep(f"Finish: {asked(request)}", "request", _now(memory))]


def _is_left_behind(step: ledger.StepNote, memory: ConversationMemory) -> bool:
    """Return True if nobody took up what a reply proposed, though much else was asked for since."""
    return step.source == "reply" and memory.ledger.turns_begun - step.turn >= LEFT_BEHIND_AFTER


def _is_settled(memory: ConversationMemory) -> bool:
    """Return True if the request is done without a report of it: committed, or edited and checked."""
    books = memory.ledger
    if says_little(books.asked) or books.committed_on > books.asked_on:
        return True
    passed = memory.check is not None and memory.check.passed
    return passed and books.checked_on > books.edited_on > books.asked_on


def _queued(memory: ConversationMemory) -> list[OpenStep]:
    return [OpenStep(words, "request", _now(memory)) for words in memory.queued]


def _summarised(memory: ConversationMemory) -> list[OpenStep]:
    """Return what a compaction summary left pending, and what the client's recap names as next."""
    steps: list[OpenStep] = []
    summary = memory.summary
    if summary and sum(one.at > summary.at for one in memory.requests) < LEFT_BEHIND_AFTER_SUMMARY:
        is_fresh = not any(one.at > summary.at for one in memory.requests)
        pending = [text for text in summary.pending if is_fresh or not says_little(text)]
        steps += [OpenStep(text, "summary", _now(memory)) for text in pending]
    if memory.recap and not any(one.at > memory.recap.at for one in memory.requests):
        text = memory.recap.text.partition("Next:")[2].strip()
        steps += [OpenStep(text, "summary", _now(memory))] if text else []
    return steps


def _offered(memory: ConversationMemory) -> list[OpenStep]:
    offer = offer_at_end(memory.turn.reply) if memory.turn.ended else ""
    return [OpenStep(f"{cut(offer, 150)} (offered, not answered)", "offer", _now(memory))] if offer else []
