"""A handoff document as frozen values, and the parser of its sections and items."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from flowd.handoff.headings import HeadingKind, is_contract_heading, kind_of_heading
from flowd.system.markdown import MarkdownLine, split_box
from flowd.system.text import one_line

SIGNAL = "HUMAN REVIEW NEEDED"
NO_PURPOSE = "(no summary)"
# Written where a section has no entry; not an entry itself.
NOTHING = "(nothing noted)"
PURPOSE_CHARACTERS = 60
# A decision stands among the reflections with this before it.
DECIDED = "Decided: "
_SIGNAL = re.compile(r"human[ \t]+review[ \t]+needed(.*)", re.IGNORECASE | re.ASCII)
# People mark a step as done in its text, too.
_DONE = re.compile(r"(?:✅|☑|✔|\[x\]|\*{0,2}(?:DONE|COMPLETED|FINISHED)\b)|~~.+~~$")
MAX_DENIAL = 40
_DENIED_BEFORE = re.compile(
    r"\b(?:no|not|without|never|isn't)(?:[ \t]+(?:any|further|more|a))?[ \t*_]+$", re.IGNORECASE
)
_DENIED_AFTER = re.compile(
    r"[\W_]*(?:no|none|n/?a|nothing|false|not (?:needed|required))[\W_]*", re.IGNORECASE
)
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
ITEM_CHARACTERS = 400
_BOLD = re.compile(r" {0,3}(\*\*|__)([^*_]{2,80}?):?\1:?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*")
# Bold lines serve as headings below every real one.
_BOLD_LEVEL = 7
_IN_FENCE = ("fence", "code")


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
    timestamp: str = ""
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
        return [item.text for item in self.items("next") if not item.ticked and not _DONE.match(item.text)]

    @property
    def progress_percent(self) -> int:
        """How much is done: of the boxes if there are any, else of the entries; 0 if neither is there."""
        if self.boxes:
            return 100 * self.ticked // self.boxes
        done, left = len(self.items("done")), len(self.items("next"))
        return 100 * done // (done + left) if done + left else 0


def escalations_in(text: str) -> tuple[str, ...]:
    """Return the reason of each escalation signal in *text*, in any case and anywhere, unless denied."""
    return tuple(
        match[1].strip(_ORNAMENT)[:_REASON_CHARACTERS] or "no reason given"
        for match in _SIGNAL.finditer(text)
        if not _is_denied(match)
    )


def _is_denied(match: re.Match[str]) -> bool:
    """Return True for "no human review needed" and "human review needed: none"."""
    before = match.string[max(0, match.start() - MAX_DENIAL) : match.start()]
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.fullmatch(match[1]))


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


def items_of(lines: list[MarkdownLine]) -> tuple[SectionItem, ...]:
    """Return the entries of *lines*: the outermost list if there is one, else what else is there."""
    kinds = (_bullets, _rows, _sub_headings, _prose)
    for find in (_sub_headings, *kinds) if _has_bare_sub_heading(lines) else kinds:
        if items := find(lines):
            return tuple(items)
    return ()


def count_boxes(lines: list[MarkdownLine]) -> tuple[int, int]:
    """Return how many boxes are ticked, and how many there are."""
    return sum(line.is_ticked for line in lines), sum(line.box != "" for line in lines)


def item(text: str, box: str = "") -> SectionItem:
    """Return an entry; its check box is *box*, or at the beginning of *text*."""
    if not box:
        box, text = split_box(text.strip())
    return SectionItem(text.strip()[:ITEM_CHARACTERS], box in ("x", "X") if box else None)


def _bullets(lines: list[MarkdownLine]) -> list[SectionItem]:
    outermost = min((line.indent for line in lines if line.kind == "bullet"), default=0)
    found: list[tuple[str, list[str]]] = []
    is_inside = False
    for line in lines:
        if line.kind == "bullet":
            is_inside = line.indent <= outermost
            if is_inside:
                found.append((line.box, [line.text]))
        elif line.kind in ("blank", "heading", "rule", *_IN_FENCE):
            is_inside = False
        elif is_inside:
            found[-1][1].append(line.raw.strip())
    return [item(" ".join(words), box) for box, words in found if any(words)]


def _rows(lines: list[MarkdownLine]) -> list[SectionItem]:
    rows = [line for line in lines if line.kind == "row"]
    return [item(" — ".join(filter(None, row.cells))) for row in rows[1:] if any(row.cells)]


def _sub_headings(lines: list[MarkdownLine]) -> list[SectionItem]:
    return [item(line.text) for line in lines if line.kind == "heading" and line.text]


def _has_bare_sub_heading(lines: list[MarkdownLine]) -> bool:
    """Return True if of several sub-headings one has no list below it: then they are the list."""
    starts = [number for number, line in enumerate(lines) if line.kind == "heading"]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)]
    return len(parts) > 1 and not all(any(line.kind == "bullet" for line in part) for part in parts)


def _prose(lines: list[MarkdownLine]) -> list[SectionItem]:
    kept = "\n".join("" if line.kind in ("rule", *_IN_FENCE) else line.raw for line in lines)
    paragraphs = re.split(r"\n[ \t]*\n", kept)
    return [item(one_line(text)) for text in paragraphs if text.strip()]


class SectionHeading(NamedTuple):
    """A heading of any kind: its line and the first line below it, as indexes."""

    level: int
    text: str
    line: int
    below: int


def headings_of(lines: list[MarkdownLine]) -> list[SectionHeading]:
    """Return the headings of *lines*; underlined and bold ones only where they announce something known."""
    found: list[SectionHeading] = []
    for number, line in enumerate(lines):
        if line.kind == "heading":
            found.append(SectionHeading(line.level, line.text, number, number + 1))
        elif line.kind in _IN_FENCE:
            continue
        elif (match := _BOLD.fullmatch(line.raw)) and kind_of(match[2]):
            found.append(SectionHeading(_BOLD_LEVEL, match[2], number, number + 1))
        elif number and (match := _UNDERLINE.fullmatch(line.raw)) and kind_of(lines[number - 1].raw):
            level = 1 if match[1].startswith("=") else 2
            found.append(SectionHeading(level, lines[number - 1].raw.strip(), number - 1, number + 1))
    return found


def sections_of(lines: list[MarkdownLine]) -> tuple[Section, ...]:
    """Return the sections that announce something known, in order.

    A section reaches to the next heading of its level or above. Headings inside one of the contract's
    own sections are part of it; elsewhere, a heading of the contract's below another ends that one.
    """
    return tuple(
        Section(
            kind,
            heading.text,
            "\n".join(line.raw for line in lines[heading.below : end]).strip(),
            items_of(lines[heading.below : end]),
        )
        for kind, heading, end in _known(headings_of(lines), len(lines))
    )


def _known(headings: list[SectionHeading], last: int) -> Iterator[tuple[Kind, SectionHeading, int]]:
    reached = 0
    for index, heading in enumerate(headings):
        kind = kind_of(heading.text)
        if kind is None or heading.line < reached or _is_title(heading, _after(headings, index)):
            continue
        reached = next((other.line for other in _after(headings, index) if _ends(other, heading)), last)
        yield kind, heading, reached


def _after(headings: list[SectionHeading], index: int) -> Iterator[SectionHeading]:
    return (headings[later] for later in range(index + 1, len(headings)))


def _ends(other: SectionHeading, heading: SectionHeading) -> bool:
    if other.level <= heading.level:
        return True
    return is_contract_heading(other.text) and not is_contract_heading(heading.text)


def _is_title(heading: SectionHeading, below: Iterator[SectionHeading]) -> bool:
    """Return True if a heading is the title of the whole document, so that its words announce no section."""
    if heading.level > 1 or next(below, heading).level <= 1:
        return False
    return all(later.level > 1 for later in below)
