"""The state of one session, as frozen values."""

import time
from typing import Literal

import msgspec

from flowd.model.evidence import Evidence

SessionPhase = Literal["active", "idle", "compacted", "ended", "unfinished", "vanished"]
Status = Literal["in_progress", "completed", "blocked"]


class Insight(msgspec.Struct, frozen=True, omit_defaults=True):
    """One or two sentences worth keeping, and the record they came from."""

    category: Literal["learning", "decision", "context"]
    insight: str
    record: str = ""
    line: int = 0


class ModelUsage(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tokens that a session used of one model, and what the client thinks they cost."""

    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    usd: float = 0.0


class SessionCost(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session has cost so far, as the client counts it (2.1.326 and later)."""

    usd: float = 0.0
    models: tuple[ModelUsage, ...] = ()


class SessionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything flowd holds about one session, as of its last record."""

    session_id: str
    project: str = ""
    repository: str = ""
    worktree: str = ""
    cwd: str = ""
    branch: str = ""
    client: str = ""
    title: str = ""
    started_at: float = 0.0
    last_activity_at: float = 0.0
    touched_at: float = 0.0
    compacted_at: float = 0.0
    compactions: int = 0
    ended_at: float = 0.0
    vanished_at: float = 0.0
    records: int = 0
    headless: bool = False
    cost: SessionCost | None = None
    goal: str = ""
    status: Status = "in_progress"
    now: str = ""
    hypothesis: str = ""
    outcome: str = ""
    files: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    insights: tuple[Insight, ...] = ()
    evidence: Evidence = Evidence()


def latest_activity(state: SessionState) -> float:
    """Return when the session last did something, by its records or by its file, whichever is later."""
    return max(state.last_activity_at, state.touched_at)


def phase_of(state: SessionState, idle_after_s: float, gone: frozenset[str] = frozenset()) -> SessionPhase:
    """Return the one word for how a session is; *gone* are those whose client was killed."""
    if state.vanished_at:
        return "vanished"
    if state.ended_at and state.ended_at >= state.last_activity_at:
        return "ended"
    if state.session_id in gone:
        return "unfinished"
    if idle_after_s and time.time() - latest_activity(state) > idle_after_s:
        return "idle"
    # The boundary and its summary carry about the same time; anything later is work after it.
    if state.compacted_at and state.last_activity_at - state.compacted_at < 1.0:
        return "compacted"
    return "active"
