"""Merge the contributions of its sessions into a work: its fields and steps, and what its files require."""

import hashlib

import msgspec

from flowd.extractors.conversation.ledger import answers, closes, numbers_in
from flowd.extractors.text import cut_at_sentence
from flowd.extractors.work.contribution import branches_of
from flowd.extractors.work.likeness import is_same_step, says_little, terms
from flowd.model.session import OpenStep, Status
from flowd.model.work import Contribution, DocumentSteps, Step, Work

MAX_OPEN = 24

CODE = frozenset(
    "py pyi js jsx ts tsx mjs go rs java kt kts c h cc cpp hpp cs rb php swift scala ex exs erl hs ml lua "
    "dart sql sh vue svelte zig nim clj".split()
)
GOAL_LENGTH = 200
MAX_FILES = 40
MAX_REFS = 16
MAX_MERGED = 24


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


def work_id_of(session_id: str) -> str:
    """Return the id of the work that a session begins."""
    return "w" + hashlib.blake2b(session_id.encode(), digest_size=5).hexdigest()


def _after(steps: list[Step], given: Contribution) -> list[Step]:
    """Return the *steps* of earlier sessions that are still open after *given*."""
    numbers = numbers_in(given.evidence.closings)
    of_plan = [step.number for step in steps if step.number]
    closed = [
        step
        for step in steps
        if _is_closed(step, given) or (step.number in numbers and of_plan.count(step.number) == 1)
    ]
    lists = {(step.session_id, step.opened_at) for step in closed}
    left = [
        msgspec.structs.replace(step, is_taken_up=True)
        if (step.session_id, step.opened_at) in lists
        else step
        for step in steps
        if step not in closed
    ]
    return [step for step in left if not _is_passed_over(step, given)]


def with_document(work: Work, document: DocumentSteps, contributions: list[Contribution]) -> Work:
    """Return *work* with the open items of a handoff document that no session has closed since."""
    since = [given for given in contributions if given.last_activity_at > document.at]
    steps = [step for step in work.steps if step.source != "state"]
    upkeep = [step for step in work.steps if step.source == "state"]
    for text in document.texts:
        step = Step(step_id(text), text, "handoff", document.at, document.at, document.session_id)
        is_over = any(_is_closed(step, given) for given in since)
        if not is_over and not any(is_same_step(text, other.text) for other in steps):
            steps.append(step)
    return msgspec.structs.replace(work, steps=(*steps[-MAX_OPEN:], *upkeep))


def _is_closed(step: Step, given: Contribution) -> bool:
    """Return True if the replies, commits, tasks or requests of a session show that *step* is done."""
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
    if step.is_taken_up:
        return step.source == "request"
    return step.source in ("request", "reply") or says_little(step.text)


def _named(steps: list[Step], found: OpenStep, given: Contribution) -> list[Step]:
    """Return *steps* with one more, or with the same step confirmed."""
    at = found.at or given.last_activity_at
    for index, step in enumerate(steps):
        if is_same_step(step.text, found.text):
            confirmed = msgspec.structs.replace(step, confirmed_at=max(at, step.confirmed_at))
            return [*steps[:index], confirmed, *steps[index + 1 :]]
    named = Step(step_id(found.text), found.text, found.source, at, at, given.session_id, number=found.number)
    return [*steps, named]


def upkeep_of(last: Contribution) -> list[Step]:
    """Return what the edits, checks, commits and pushes of a work's last session leave to do.

    Earlier sessions are ignored: a person may have finished what they left.
    """
    return [*_check(last), *_commit(last), *_push(last)]


def _step(kind: str, text: str, at: float, last: Contribution) -> Step:
    return Step(f"{kind}-{last.session_id[:8]}", text, "state", at, at, last.session_id)


def _check(last: Contribution) -> list[Step]:
    """Return the check to run again: only where one was run before, and code was edited after it."""
    deeds = last.evidence.deeds
    if not deeds.checked_at:
        return []
    if deeds.edited_at > deeds.checked_at and any(name.rpartition(".")[2] in CODE for name in last.files):
        text = f"Run the tests again ({deeds.check}): code was edited after the last run"
        return [_step("check", text, deeds.edited_at, last)]
    if not deeds.check_passed and deeds.checked_at > deeds.committed_at:
        return [
            _step("check", f"Fix what fails in {deeds.check} and run the tests again", deeds.checked_at, last)
        ]
    return []


def _commit(last: Contribution) -> list[Step]:
    deeds, many = last.evidence.deeds, len(last.files)
    if deeds.edited_at <= deeds.committed_at or not many:
        return []
    text = f"Commit the changes: {many} file{'s' * (many != 1)} edited since the last commit"
    return [_step("commit", text, deeds.edited_at, last)]


def _push(last: Contribution) -> list[Step]:
    found = last.evidence
    if found.deeds.committed_at <= found.deeds.pushed_at:
        return []
    subject = found.commits[-1].subject.rstrip(".") if found.commits else "the last commit"
    where = found.deeds.commit_branch.partition(" ")[0] or last.branch or "the branch"
    return [_step("push", f"Push {where}: {subject} is only local", found.deeds.committed_at, last)]


def merged(work: Work, contributions: list[Contribution]) -> Work:
    """Return *work* merged from *contributions*; the user fields are kept."""
    if not contributions:
        return work
    in_order = sorted(contributions, key=lambda given: given.started_at)
    if len(in_order) > MAX_MERGED:  # how it began, and the latest
        in_order = [in_order[0], *in_order[1 - MAX_MERGED :]]
    last = max(contributions, key=lambda given: given.last_activity_at)
    steps = steps_of(in_order)
    drawn = msgspec.structs.replace(
        work,
        goal=_goal(in_order),
        title=next((given.title for given in in_order if given.title), ""),
        began_at=in_order[0].started_at,
        branches=tuple(dict.fromkeys(branch for given in in_order for branch in branches_of(given))),
        refs=tuple(dict.fromkeys(ref for given in in_order for ref in given.evidence.refs))[-MAX_REFS:],
        files=_files(in_order),
        steps=(*steps, *upkeep_of(last)),
        sessions=tuple(given.session_id for given in in_order),
        worked_at=max(_worked_at(given) for given in in_order),
        asked_at=max(_asked_at(given) for given in in_order),
    )
    return moved_on(drawn, last)


def moved_on(work: Work, last: Contribution) -> Work:
    """Return *work* with what changes at every record: where its latest session is and what it does."""
    status = status_of(last, work.steps)
    return msgspec.structs.replace(
        work,
        status=status,
        now=last.now,
        hypothesis=last.hypothesis,
        outcome=last.outcome if status == "completed" else "",
        request=last.evidence.request,
        touched_at=last.last_activity_at,
        written_at=last.written_at,
        session_id=last.session_id,
        branch=last.branch or work.branch,
        repository=last.repository,
        worktree=last.worktree,
        questions=last.questions,
        worked_at=max(work.worked_at, _worked_at(last)),
        asked_at=max(work.asked_at, _asked_at(last)),
        blockers=last.blockers,
    )


def _asked_at(given: Contribution) -> float:
    return max((turn.at for turn in given.evidence.turns), default=0.0)


def _worked_at(given: Contribution) -> float:
    """Return when the last request was made that the session has worked on."""
    return max((turn.at for turn in given.evidence.turns if turn.is_done), default=0.0)


def status_of(last: Contribution, steps: tuple[Step, ...]) -> Status:
    """Return the work's status: not completed while a named step is open; upkeep and offers do not count."""
    if last.status == "completed" and any(step.source not in ("state", "offer") for step in steps):
        return "in_progress"
    return last.status


def _goal(in_order: list[Contribution]) -> str:
    """Return what the work is for: the plan handed over last, else its first wording."""
    plans = [given.evidence.plan for given in in_order if given.evidence.plan]
    topics = [given.evidence.topic for given in in_order if given.evidence.topic]
    wording = plans[-1:] or topics[:1]
    return cut_at_sentence(wording[0], GOAL_LENGTH) if wording else ""


def _files(in_order: list[Contribution]) -> tuple[str, ...]:
    """Return the files of all sessions, the latest session's first."""
    latest = sorted(in_order, key=lambda given: -given.last_activity_at)
    return tuple(dict.fromkeys(path for given in latest for path in given.files))[:MAX_FILES]
