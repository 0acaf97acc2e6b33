"""The structured handoff block as typed, frozen values."""

import hashlib
import re
import unicodedata
from typing import Literal

import msgspec

Outcome = Literal["completed", "partial", "failed", "blocked"]
Level = Literal["high", "medium", "low"]
ChangeType = Literal["add", "modify", "delete", "refactor"]


class CreatedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file the task made, and what it is for."""

    path: str
    purpose: str = ""
    lines: str = ""


class ModifiedFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file the task changed, where, how and why."""

    path: str
    lines: str = ""
    change_type: ChangeType | None = None
    description: str = ""


class Pattern(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A way of doing things that the next agent should follow."""

    id: str
    pattern: str
    location: str = ""
    applies_to: tuple[str, ...] = ()


class Gotcha(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A trap, and how to stay out of it."""

    id: str
    issue: str
    discovered_in: str = ""
    mitigation: str = ""
    severity: Level = "medium"


class Dependency(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file the next agent should read first."""

    file: str
    reason: str = ""


class OpenQuestion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A question left open, with the writer's answer."""

    question: str
    context: str = ""
    recommendation: str = ""
    blocking: bool = False


class NextStep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What should happen next."""

    step: str
    priority: Level = "medium"
    depends_on: tuple[str, ...] = ()


class Blocker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What blocks the work, and which tasks it blocks."""

    blocker: str
    impact: str = ""
    suggested_resolution: str = ""
    blocking_tasks: tuple[str, ...] = ()


class HandoffBlock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent's handoff to the next."""

    outcome: Outcome
    files_created: tuple[CreatedFile, ...] = ()
    files_modified: tuple[ModifiedFile, ...] = ()
    patterns_discovered: tuple[Pattern, ...] = ()
    gotchas: tuple[Gotcha, ...] = ()
    dependencies_for_next: tuple[Dependency, ...] = ()
    open_questions: tuple[OpenQuestion, ...] = ()
    suggested_next_steps: tuple[NextStep, ...] = ()
    blockers: tuple[Blocker, ...] = ()


class Violation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule that a block breaks: in which field, with which value, on which line."""

    field: str
    value: str
    rule: str
    line: int

    def __str__(self) -> str:
        shown = f" {self.value!r}" if self.value else ""
        return f"line {self.line}: {self.field}{shown}: {self.rule}"


class TaskRef(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The task a block belongs to, as its file names it; empty when nothing names one."""

    id: str = ""
    name: str = ""


class FoundBlock(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A block as found in a text: its value, or why it has none.

    ``digest`` identifies the wording; ``line`` is where the body starts, counted from 1;
    ``ordinal`` counts the text's blocks from 0; ``text`` is the body as written, when it has no value.
    """

    line: int
    digest: str
    ordinal: int = 0
    block: HandoffBlock | None = None
    usable: HandoffBlock | None = None
    text: str = ""
    violations: tuple[Violation, ...] = ()
    task: TaskRef = TaskRef()
    completeness: int = 0
    missing: tuple[str, ...] = ()


FIELDS = tuple(field.name for field in msgspec.structs.fields(HandoffBlock))


_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def meaning(text: str) -> str:
    """Return *text* without what does not change its meaning: case, punctuation, numbers, spacing."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = _BETWEEN_WORDS.sub(" ", _NUMBERS.sub("0", folded)).strip()
    return words if words.strip("0 ") else " ".join(folded.split())


def stable_id(kind: str, text: str) -> str:
    """Return the id of *text* as a *kind* of node."""
    return f"{kind}-{digest(meaning(text), size=5)}"


def digest(text: str, *, size: int = 8) -> str:
    """Return a short hash of *text*, *size* bytes in hex."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
