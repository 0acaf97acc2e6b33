"""The life of open steps across the sessions of a work: named, confirmed, closed, faded."""

import hashlib

import msgspec

from flowd.extractors.conversation.ledger import answers, closes
from flowd.extractors.work.likeness import is_same_step, says_little, terms
from flowd.model.session import OpenStep
from flowd.model.work import Contribution, Step

MAX_OPEN = 24


def steps_of(contributions: list[Contribution]) -> list[Step]:
    """Return the steps that *contributions*, in the order they were begun, leave open."""
    steps: list[Step] = []
    for given in contributions:
        steps = _after(steps, given)
        for found in given.evidence.steps:
            steps = _named(steps, found, given)
    return steps[-MAX_OPEN:]


def step_id(text: str) -> str:
    """Return the identity of a step first named in these words."""
    words = " ".join(sorted(terms(text))) or text.lower()
    return hashlib.blake2b(words.encode(), digest_size=5).hexdigest()


def _after(steps: list[Step], given: Contribution) -> list[Step]:
    """Return the *steps* of earlier sessions that are still open after *given*."""
    closed = [step for step in steps if _is_closed(step, given)]
    lists = {(step.session_id, step.opened_at) for step in closed}
    left = [
        msgspec.structs.replace(step, is_taken_up=True)
        if (step.session_id, step.opened_at) in lists
        else step
        for step in steps
        if step not in closed
    ]
    return [step for step in left if not _is_passed_over(step, given)]


def _is_closed(step: Step, given: Contribution) -> bool:
    """Return True if a session says, or its commits, tasks and requests show, that *step* is done."""
    found = given.evidence
    said = [*found.closings, *found.tasks_done, *(commit.subject for commit in found.commits)]
    return any(closes(one, step.text) for one in said) or any(
        turn.is_done and answers(turn.request, step.text) for turn in found.turns
    )


def _is_passed_over(step: Step, given: Contribution) -> bool:
    """Return True if a later session went on with the work in a way that leaves *step* behind.

    What was under way has been finished by then, or left. What a reply only proposed was not wanted,
    unless somebody has begun to work its list off.
    """
    found = given.evidence
    if step.source == "offer":
        return bool(found.turns)
    if not (found.deeds.edited_at or found.deeds.committed_at):
        return False
    return (
        step.source == "request"
        or says_little(step.text)
        or (step.source == "reply" and not step.is_taken_up)
    )


def _named(steps: list[Step], found: OpenStep, given: Contribution) -> list[Step]:
    """Return *steps* with one more, or with the same step confirmed."""
    at = found.at or given.last_activity_at
    for index, step in enumerate(steps):
        if is_same_step(step.text, found.text):
            confirmed = msgspec.structs.replace(step, confirmed_at=max(at, step.confirmed_at))
            return [*steps[:index], confirmed, *steps[index + 1 :]]
    return [*steps, Step(step_id(found.text), found.text, found.source, at, at, given.session_id)]
