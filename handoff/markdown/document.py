"""A handoff document as values: one set of names for every style."""

import re
from typing import Literal, NamedTuple

from flowd.handoff.headings import HeadingKind, kind_of_heading

SIGNAL = "HUMAN REVIEW NEEDED"
NO_PURPOSE = "(no summary)"
# Written where a section has no entry; not an entry itself.
NOTHING = "(nothing noted)"
PURPOSE_CHARACTERS = 60
_SIGNAL = re.compile(r"human[ \t]+review[ \t]+needed(.*)", re.IGNORECASE | re.ASCII)
_REASON_CHARACTERS = 300
_ORNAMENT = " \t*_`:.-–—>|#"

Kind = Literal[
    "done",
    "next",
    "gotchas",
    "risks",
    "reflection",
    "decisions",
    "questions",
    "blockers",
    "files",
    "context",
]


class SectionItem(NamedTuple):
    """One entry of a section; ``ticked`` is None without a check box."""

    text: str
    ticked: bool | None = None


class Section(NamedTuple):
    """The content below one heading."""

    kind: Kind
    heading: str
    text: str
    items: tuple[SectionItem, ...]


class Document(NamedTuple):
    """One handoff document, whatever its style."""

    title: str = ""
    session_id: str = ""
    purpose: str = NO_PURPOSE
    trigger: str = ""
    branch: str = ""
    commit: str = ""
    project: str = ""
    is_auto: bool = False
    sections: tuple[Section, ...] = ()
    escalations: tuple[str, ...] = ()
    ticked: int = 0
    boxes: int = 0

    def items(self, *kinds: Kind) -> list[SectionItem]:
        """Return the entries of all sections of *kinds*, in the document's order."""
        found = [item for section in self.sections if section.kind in kinds for item in section.items]
        return [item for item in found if item.text != NOTHING]

    @property
    def open_items(self) -> list[str]:
        """What the document leaves to be done."""
        return [item.text for item in self.items("next") if not item.ticked]

    @property
    def progress_percent(self) -> int:
        """How much is done: of the boxes if there are any, else of the entries; 0 if neither is there."""
        if self.boxes:
            return 100 * self.ticked // self.boxes
        done, left = len(self.items("done")), len(self.items("next"))
        return 100 * done // (done + left) if done + left else 0


def escalations_in(text: str) -> tuple[str, ...]:
    """Return the reason behind each escalation signal in *text*, in any case and anywhere."""
    return tuple(
        match[1].strip(_ORNAMENT)[:_REASON_CHARACTERS] or "no reason given"
        for match in _SIGNAL.finditer(text)
    )


def without_signal(text: str) -> str:
    """Return *text* with the signal respelt, so that ``grep`` does not find it: flowd never raises one."""
    return _SIGNAL.sub(lambda match: f"human-review-needed{match[1]}", text)


# Patterns and references have no section of their own in a handoff document.
_SECTION_KINDS: dict[HeadingKind, Kind] = {
    "done": "done",
    "changes": "done",
    "next": "next",
    "advice": "next",
    "gotchas": "gotchas",
    "risks": "risks",
    "failures": "reflection",
    "reflection": "reflection",
    "decisions": "decisions",
    "rationale": "decisions",
    "rules": "gotchas",
    "questions": "questions",
    "blockers": "blockers",
    "files": "files",
    "created": "files",
    "reading": "files",
    "context": "context",
}


def kind_of(heading: str) -> Kind | None:
    """Return the kind of section that *heading* announces, None if it announces none."""
    kind = kind_of_heading(heading)
    return _SECTION_KINDS.get(kind) if kind else None
