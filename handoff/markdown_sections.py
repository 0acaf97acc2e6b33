"""Markdown cut at its headings, code fences left whole."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.handoff.contract import Kind, Section
from flowd.handoff.contract_kinds import is_contract_heading, kind_of
from flowd.handoff.markdown_items import items_of

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
