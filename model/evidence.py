"""What a session leaves behind as evidence of work, as frozen values."""

from typing import Literal

import msgspec

StepSource = Literal[
    "todo", "plan", "reply", "request", "offer", "summary", "handoff", "block", "bead", "state", "person"
]


class OpenStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A step that a session left open, where it was named and when."""

    text: str
    source: StepSource
    at: float = 0.0


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
    """What tells whether a session goes on with a work, begins one or only visits, and what it adds."""

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
