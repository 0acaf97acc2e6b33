"""The entries of one section: bullets, boxes, table rows, sub-headings, or plain prose."""

import re

from flowd.handoff.contract import Item

ITEM_CHARACTERS = 400
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)")
_BOX = re.compile(r"\[([ xX~!/-])\][ \t]*(.*)")
_ROW = re.compile(r"[ \t]*\|(.+)\|[ \t]*")
_SUB_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_BOXES = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•]|\d{1,3}[.)])[ \t]+\[([ xX~!])\](?=[ \t]|$)")


def items_of(lines: list[str]) -> tuple[Item, ...]:
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


def item(text: str) -> Item:
    """Return the entry that *text*, without its bullet, stands for."""
    match = _BOX.fullmatch(text.strip())
    if match is None:
        return Item(text.strip()[:ITEM_CHARACTERS])
    return Item(match[2].strip()[:ITEM_CHARACTERS], match[1] in "xX")


def _bullets(lines: list[str]) -> list[Item]:
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


def _rows(lines: list[str]) -> list[Item]:
    rows = [match[1] for line in lines if (match := _ROW.fullmatch(line)) and not _is_rule(line)]
    cells = [[cell.strip() for cell in row.split("|")] for row in rows[1:]]
    return [item(" — ".join(filter(None, row))) for row in cells if any(row)]


def _sub_headings(lines: list[str]) -> list[Item]:
    found = [match[1].rstrip(" \t#") for line in lines if (match := _SUB_HEADING.fullmatch(line))]
    return [item(text) for text in found if text]


def _has_bare_sub_heading(lines: list[str]) -> bool:
    """Say whether of several sub-headings one has no list below it: then they are the list."""
    starts = [number for number, line in enumerate(lines) if _SUB_HEADING.fullmatch(line)]
    parts = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)], strict=False)]
    return len(parts) > 1 and not all(any(_BULLET.fullmatch(line) for line in part) for part in parts)


def _prose(lines: list[str]) -> list[Item]:
    paragraphs = re.split(r"\n[ \t]*\n", "\n".join("" if _is_rule(line) else line for line in lines))
    return [item(" ".join(text.split())) for text in paragraphs if text.strip()]


def _is_rule(line: str) -> bool:
    """Say whether *line* is a rule, or the one below a table's head."""
    bare = line.strip()
    if not bare.strip("-|: \t"):
        return "--" in bare
    return len(bare) > 2 and not (bare.strip("*") and bare.strip("_"))


def _indent(space: str) -> int:
    return len(space.expandtabs(4))
