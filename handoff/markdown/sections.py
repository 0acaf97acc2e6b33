"""Markdown cut at its headings, code fences left whole."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.handoff.markdown.document import Kind, Section, SectionItem, is_contract_heading, kind_of
from flowd.system.text import one_line

ITEM_CHARACTERS = 400
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)")
_BOX = re.compile(r"\[([ xX~!/-])\][ \t]*(.*)")
_ROW = re.compile(r"[ \t]*\|(.+)\|[ \t]*")
_SUB_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_BOXES = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•]|\d{1,3}[.)])[ \t]+\[([ xX~!])\](?=[ \t]|$)")


def items_of(lines: list[str]) -> tuple[SectionItem, ...]:
    """Return the entries of *lines*: the outermost list if there is one, else what else is there."""
    kinds = (_bullets, _rows, _sub_headings, _prose)
    for find in (_sub_headings, *kinds) if _has_bare_sub_heading(lines) else kinds:
        if items := find(lines):
            return tuple(items)
    return ()


def count_boxes(lines: list[str]) -> tuple[int, int]:
    """Return how many boxes are ticked, and how many there are."""
    marks = [match[1] for line in lines if (match := _BOXES.match(line))]
    return sum(mark in "xX" for mark in marks), len(marks)


def item(text: str) -> SectionItem:
    """Return the entry that *text*, without its bullet, stands for."""
    match = _BOX.fullmatch(text.strip())
    if match is None:
        return SectionItem(text.strip()[:ITEM_CHARACTERS])
    return SectionItem(match[2].strip()[:ITEM_CHARACTERS], match[1] in "xX")


def _bullets(lines: list[str]) -> list[SectionItem]:
    found: list[list[str]] = []
    outermost = min((_indent(match[1]) for line in lines if (match := _BULLET.fullmatch(line))), default=0)
    is_inside = False
    for line in lines:
        match = _BULLET.fullmatch(line)
        if match and not _is_rule(line):
            is_inside = _indent(match[1]) <= outermost
            if is_inside:
                found.append([match[2]])
        elif not line.strip() or _SUB_HEADING.fullmatch(line):
            is_inside = False
        elif is_inside:
            found[-1].append(line.strip())
    return [item(" ".join(words)) for words in found if any(words)]


def _rows(lines: list[str]) -> list[SectionItem]:
    rows = [match[1] for line in lines if (match := _ROW.fullmatch(line)) and not _is_rule(line)]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows[1:]]
    return [item(" — ".join(filter(None, row))) for row in cells if any(row)]


def _sub_headings(lines: list[str]) -> list[SectionItem]:
    found = [match[1].rstrip(" \t#") for line in lines if (match := _SUB_HEADING.fullmatch(line))]
    return [item(text) for text in found if text]


def _has_bare_sub_heading(lines: list[str]) -> bool:
    """Say whether of several sub-headings one has no list below it: then they are the list."""
    starts = [number for number, line in enumerate(lines) if _SUB_HEADING.fullmatch(line)]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)]
    return len(parts) > 1 and not all(any(_BULLET.fullmatch(line) for line in part) for part in parts)


def _prose(lines: list[str]) -> list[SectionItem]:
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join("" if _is_rule(line) else line for line in lines))
    return [item(one_line(text)) for text in paragraphs if text.strip()]


def _is_rule(line: str) -> bool:
    """Say whether *line* is a rule, or the one below a table's head."""
    bare = line.strip()
    if not bare.strip("-|: \t"):
        return "--" in bare
    return len(bare) > 2 and not (bare.strip("*") and bare.strip("_"))


def _indent(space: str) -> int:
    return len(space.expandtabs(4))


_LINES = re.compile(r"\r\n|\r|\n")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BOLD = re.compile(r" {0,3}(\*\*|__)([^*_]{2,80}?):?\1:?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)")
# Bold lines stand for headings below every real one.
_BOLD_LEVEL = 7


class Heading(NamedTuple):
    """A heading, the line it stands on and the first line below it."""

    level: int
    text: str
    line: int
    below: int


def lines_of(text: str) -> list[str]:
    """Return the lines of *text*, whatever ends them; nothing but line ends divides."""
    return _LINES.split(text)


def outside_fences(lines: list[str]) -> list[str]:
    """Return *lines* with those inside closed code fences emptied; a fence left open is none."""
    kept = list(lines)
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        if opened is None:
            opened = number, match[1]
        elif match[1].startswith(opened[1]) and not match[2].strip():
            kept[opened[0] : number + 1] = [""] * (number + 1 - opened[0])
            opened = None
    return kept


def headings_of(lines: list[str]) -> list[Heading]:
    """Return the headings of *lines*; underlined and bold ones only where they announce something known."""
    found: list[Heading] = []
    for number, line in enumerate(lines):
        if match := _ATX.fullmatch(line):
            found.append(Heading(len(match[1]), match[2].rstrip(" \t#"), number, number + 1))
        elif (match := _BOLD.fullmatch(line)) and kind_of(match[2]):
            found.append(Heading(_BOLD_LEVEL, match[2], number, number + 1))
        elif number and (match := _UNDERLINE.fullmatch(line)) and kind_of(lines[number - 1]):
            level = 1 if match[1].startswith("=") else 2
            found.append(Heading(level, lines[number - 1].strip(), number - 1, number + 1))
    return found


def sections_of(lines: list[str]) -> tuple[Section, ...]:
    """Return the sections that announce something known, in order.

    A section reaches to the next heading of its level or above. Headings inside one of the contract's
    own sections are part of it; elsewhere, a heading of the contract's below another ends that one.
    """
    bare = outside_fences(lines)
    return tuple(
        Section(
            kind,
            heading.text,
            "\n".join(lines[heading.below : end]).strip(),
            items_of(bare[heading.below : end]),
        )
        for kind, heading, end in _known(headings_of(bare), len(lines))
    )


def _known(headings: list[Heading], last: int) -> Iterator[tuple[Kind, Heading, int]]:
    reached = 0
    for index, heading in enumerate(headings):
        kind = kind_of(heading.text)
        if kind is None or heading.line < reached or _is_title(heading, _after(headings, index)):
            continue
        reached = next((other.line for other in _after(headings, index) if _ends(other, heading)), last)
        yield kind, heading, reached


def _after(headings: list[Heading], index: int) -> Iterator[Heading]:
    return (headings[later] for later in range(index + 1, len(headings)))


def _ends(other: Heading, heading: Heading) -> bool:
    if other.level <= heading.level:
        return True
    return is_contract_heading(other.text) and not is_contract_heading(heading.text)


def _is_title(heading: Heading, below: Iterator[Heading]) -> bool:
    """Say whether a heading stands above the whole document, so that its words announce no section."""
    if heading.level > 1 or next(below, heading).level <= 1:
        return False
    return all(later.level > 1 for later in below)
