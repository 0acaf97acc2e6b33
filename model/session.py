"""The state of one session, as frozen values."""

import time
from typing import Literal

import msgspec

Trigger = Literal[
    "precompact",
    "idle",
    "stop",
    "session-end",
    "manual",
    "design-end",
    "epic-start",
    "epic-end",
    "pre-finish",
]
AutomaticTrigger = Literal[
    "precompact", "idle", "session-end", "design-end", "epic-start", "epic-end", "pre-finish"
]

StepSource = Literal[
    "todo",
    "plan",
    "reply",
    "request",
    "offer",
    "summary",
    "handoff",
    "block",
    "bead",
    "state",
    "person",
    "model",
]

# The session id of what a person does outside of any session.
PERSON = "person"
# How an insight that only repeats a request begins.
ASKED = "The user asked: "

SessionPhase = Literal["active", "idle", "compacted", "ended", "unfinished", "vanished"]
Status = Literal["in_progress", "completed", "blocked"]


class OpenStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step that a session left open, where it was named and when."""

    text: str
    source: StepSource
    at: float = 0.0
    # Its number in a plan, 0 for none.
    number: int = 0


class TurnSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and what came of it."""

    request: str
    result: str = ""
    at: float = 0.0
    is_done: bool = False


class CommitMade(msgspec.Struct, frozen=True, omit_defaults=True):
    """A commit that a session made."""

    hash: str
    subject: str
    at: float = 0.0
    about: str = ""


class Deeds(msgspec.Struct, frozen=True, omit_defaults=True):
    """When the session last edited, checked, committed and pushed; 0 for never."""

    edited_at: float = 0.0
    committed_at: float = 0.0
    pushed_at: float = 0.0
    checked_at: float = 0.0
    check: str = ""
    check_passed: bool = True
    commit_branch: str = ""


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The evidence for the work of a session: continues, begins or only visits one, and what it adds."""

    topic: str = ""
    request: str = ""
    requests: int = 0
    continues: bool = False
    plan: str = ""
    todos: int = 0
    answers: int = 0
    refs: tuple[str, ...] = ()
    deeds: Deeds = Deeds()
    steps: tuple[OpenStep, ...] = ()
    closings: tuple[str, ...] = ()
    turns: tuple[TurnSummary, ...] = ()
    commits: tuple[CommitMade, ...] = ()
    tasks_done: tuple[str, ...] = ()
    outline: tuple[str, ...] = ()


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
    # All that the session has been on, in order.
    branches: tuple[str, ...] = ()
    client: str = ""
    title: str = ""
    started_at: float = 0.0
    last_activity_at: float = 0.0
    touched_at: float = 0.0
    compacted_at: float = 0.0
    compactions: int = 0
    ended_at: float = 0.0
    # When a hook said that a turn was over: a client that is killed then may not have written its last words.
    stopped_at: float = 0.0
    vanished_at: float = 0.0
    records: int = 0
    headless: bool = False
    # The assistant was at work on a request when the transcript ended.
    in_turn: bool = False
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
    # The next steps of the last structured block.
    block_steps: tuple[str, ...] = ()
    insights: tuple[Insight, ...] = ()
    evidence: Evidence = Evidence()


def latest_activity(state: SessionState) -> float:
    """Return when the session last did something, by its records or by its file, whichever is later."""
    return max(state.last_activity_at, state.touched_at)


def phase_of(state: SessionState, idle_after_s: float, gone: frozenset[str] = frozenset()) -> SessionPhase:
    """Return the one word for how a session is; *gone* are those whose client was killed.

    A client that was killed between two turns left nothing unfinished.
    """
    if state.vanished_at:
        return "vanished"
    if state.ended_at and state.ended_at >= state.last_activity_at:
        return "ended"
    if state.session_id in gone:
        is_at_work = state.in_turn and state.stopped_at < state.last_activity_at
        return "unfinished" if is_at_work else "ended"
    if idle_after_s and time.time() - latest_activity(state) > idle_after_s:
        return "idle"
    # The boundary and its summary carry about the same time; anything later is work after it.
    if state.compacted_at and state.last_activity_at - state.compacted_at < 1.0:
        return "compacted"
    return "active"
