"""Work: a goal with its open steps, and what sessions contribute to it, as frozen values."""

from typing import Literal

import msgspec

from flowd.model.session import Evidence, Status, StepSource

Role = Literal["begins", "joins", "visitor"]
StepAction = Literal["added", "done", "dropped"]


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One open step of a work: who named it, when it was named first, and when last confirmed."""

    id: str
    text: str
    source: StepSource
    opened_at: float
    confirmed_at: float = 0.0
    session_id: str = ""
    # A later session has worked on the list that the step is in.
    is_taken_up: bool = False
    # Its number in a plan, 0 for none.
    number: int = 0


class Contribution(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one session did for a work, or as a visitor: replaced as a whole when the session moves on."""

    session_id: str
    project: str = ""
    repository: str = ""
    worktree: str = ""
    branch: str = ""
    branches: tuple[str, ...] = ()
    title: str = ""
    started_at: float = 0.0
    last_activity_at: float = 0.0
    # When its transcript was written last: clients write to it without any activity, copies date it anew.
    written_at: float = 0.0
    status: Status = "in_progress"
    now: str = ""
    hypothesis: str = ""
    outcome: str = ""
    decisions: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_headless: bool = False
    evidence: Evidence = Evidence()


class UserWords(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fields of a work that a person set, and when each was set."""

    said: dict[str, str] = {}
    at: dict[str, float] = {}


class StepEdit(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person did to a step of a work."""

    work: str
    step: str
    action: StepAction
    text: str
    at: float = 0.0


class DocumentSteps(msgspec.Struct, frozen=True):
    """The open items of a handoff document that a session or a person wrote, and when."""

    texts: tuple[str, ...]
    at: float
    session_id: str = ""


class Assignment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session's contribution, its role, and the work that it belongs to, if any."""

    contribution: Contribution
    role: Role = "visitor"
    work: str = ""


class Work(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything flowd knows of one work, merged from its contributions and the user fields.

    ``steps`` are the open ones.
    """

    id: str
    project: str
    repository: str = ""
    worktree: str = ""
    goal: str = ""
    title: str = ""
    status: Status = "in_progress"
    now: str = ""
    hypothesis: str = ""
    outcome: str = ""
    request: str = ""
    began_at: float = 0.0
    touched_at: float = 0.0
    # When a transcript of it was written last: history that is only read for the first time is older.
    written_at: float = 0.0
    session_id: str = ""
    branch: str = ""
    branches: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    questions: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    # When the last request was asked that has been worked on since.
    worked_at: float = 0.0
    # When the last request was asked.
    asked_at: float = 0.0
    user: UserWords = UserWords()
    # Where fields come from that rules did not derive: "person", "block" or "model".
    origins: dict[str, str] = {}
    # Shown only while the project has no other work: nothing was done for it yet.
    is_tentative: bool = False
