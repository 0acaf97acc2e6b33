"""The state of a session as a checkpoint keeps it: with what the work it contributes to holds."""

import msgspec

from flowd.model.session import SessionState
from flowd.model.work import Contribution, Work

MAX_ITEMS = 12
MAX_FILES = 40


def with_work(state: SessionState, work: Work, contributions: list[Contribution]) -> SessionState:
    """Return *state* with goal, steps, files, decisions and learnings of all sessions of its *work*."""
    latest = sorted(contributions, key=lambda given: -given.last_activity_at)
    others = [given for given in latest if given.session_id != state.session_id]
    return msgspec.structs.replace(
        state,
        goal=work.goal or state.goal,
        status=work.status,
        now=work.now if work.session_id == state.session_id else state.now,
        hypothesis=work.hypothesis if work.session_id == state.session_id else state.hypothesis,
        outcome=work.outcome if work.session_id == state.session_id else state.outcome,
        next=tuple(step.text for step in work.steps),
        files=_joined(state.files, *(given.files for given in others))[:MAX_FILES],
        decisions=_joined(state.decisions, *(given.decisions for given in others))[:MAX_ITEMS],
        learnings=_joined(state.learnings, *(given.learnings for given in others))[:MAX_ITEMS],
    )


def _joined(*lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
