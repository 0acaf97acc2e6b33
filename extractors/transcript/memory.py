"""The memory of the conversation extractor: bounded, plain text, redacted."""

import msgspec

from flowd.extractors.conversation.ledger import Ledger
from flowd.extractors.conversation.plans import TodoItem
from flowd.extractors.conversation.prompts import CompactionSummary
from flowd.extractors.fields.files import Files
from flowd.extractors.fields.findings import Finding


class Utterance(msgspec.Struct, array_like=True):
    """A text and the number of the record that held it."""

    text: str
    at: int = 0


class Call(msgspec.Struct, array_like=True):
    """A tool call without a result yet."""

    kind: str
    label: str = ""
    detail: str = ""
    is_final: bool = False


class Check(msgspec.Struct, array_like=True):
    """A run of tests or linters."""

    command: str
    passed: bool
    at: int


class Commit(msgspec.Struct, array_like=True):
    """A commit the session made."""

    branch: str
    hash: str
    subject: str
    at: int


class Turn(msgspec.Struct):
    """What happened since the last prompt."""

    reply: str = ""
    doing: str = ""
    ended: bool = False
    interrupted: bool = False
    is_final: bool = True


class ConversationMemory(msgspec.Struct):
    """Requests, the current turn, open tool calls, tasks, checks, commits, files and findings."""

    first: Utterance | None = None
    restated: str = ""
    requests: list[Utterance] = []
    prompt: Utterance | None = None
    queued: list[str] = []
    title: str = ""
    recap: Utterance | None = None
    plan: Utterance | None = None
    plan_checks: list[str] = []
    promised: list[str] = []
    promised_at: int = 0
    summary: CompactionSummary | None = None
    turn: Turn = msgspec.field(default_factory=Turn)
    calls: dict[str, Call] = {}
    open_question: str = ""
    written_todos: list[TodoItem] = []
    tasks: dict[str, TodoItem] = {}
    tasks_made: int = 0
    check: Check | None = None
    commit: Commit | None = None
    pushed_at: int = 0
    edited_at: int = 0
    files: Files = msgspec.field(default_factory=Files)
    findings: list[Finding] = []
    findings_floor: float = 0.0
    findings_aside: list[Finding] = []
    ledger: Ledger = msgspec.field(default_factory=Ledger)
    clock: int = 0
    # The turn is about flowd itself: /flow-save and the like.
    is_aside: bool = False

    def todo_list(self) -> list[TodoItem]:
        """Return the to-do list, from the Task tools if the session uses them, else from TodoWrite."""
        return list(self.tasks.values()) or self.written_todos
