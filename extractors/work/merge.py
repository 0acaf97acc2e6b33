"""A work, drawn from the sessions that contributed to it."""

import msgspec

from flowd.extractors.text import cut_at_sentence
from flowd.extractors.work.steps import steps_of
from flowd.extractors.work.upkeep import upkeep_of
from flowd.model.session import Status
from flowd.model.work import Contribution, Step, Work

GOAL_LENGTH = 200
MAX_FILES = 40
MAX_REFS = 16
MAX_MERGED = 24


def merged(work: Work, contributions: list[Contribution]) -> Work:
    """Return *work* as *contributions* make it; what a person said stays with it."""
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
        branches=tuple(dict.fromkeys(given.branch for given in in_order if given.branch)),
        refs=tuple(dict.fromkeys(ref for given in in_order for ref in given.evidence.refs))[-MAX_REFS:],
        files=_files(in_order),
        steps=(*steps, *upkeep_of(last)),
        sessions=tuple(given.session_id for given in in_order),
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
        request=last.evidence.request or work.request,
        touched_at=last.last_activity_at,
        session_id=last.session_id,
        branch=last.branch or work.branch,
        repository=last.repository,
        worktree=last.worktree,
        questions=last.questions,
        worked_at=max([work.worked_at, *(turn.at for turn in last.evidence.turns if turn.is_done)]),
        blockers=last.blockers,
    )


def status_of(last: Contribution, steps: tuple[Step, ...]) -> Status:
    """Return the work's status: not completed while a named step is open; upkeep and offers do not count."""
    if last.status == "completed" and any(step.source not in ("state", "offer") for step in steps):
        return "in_progress"
    return last.status


def _goal(in_order: list[Contribution]) -> str:
    """Return what the work is for, as it was first said."""
    topics = [given.evidence.topic for given in in_order if given.evidence.topic]
    return cut_at_sentence(topics[0], GOAL_LENGTH) if topics else ""


def _files(in_order: list[Contribution]) -> tuple[str, ...]:
    """Return the files of all sessions, the latest session's first."""
    latest = sorted(in_order, key=lambda given: -given.last_activity_at)
    return tuple(dict.fromkeys(path for given in latest for path in given.files))[:MAX_FILES]
