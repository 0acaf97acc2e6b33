"""Parse markdown: the positions of headings and fences, and the kind of each line.

Written for text of people and models, not for a standard: an unclosed fence hides nothing from
``read_lines``, a fence with a name inside another one lies in it, boxes may be ``[~]`` or ``[!]``.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

# No person or agent writes a document with more structure.
MAX_MARKS = 5000
MAX_FENCE_DEPTH = 8
MAX_INDENT = 12

# Found anywhere and then checked to start its line: far faster than trying every line's start.
_MARK = re.compile(r"[#`~](?<![^ \t\n].)(?:(?<=#)#{0,5}(?=[ \t])|(?<=`)``+|(?<=~)~~+)([^\n]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"([ \t]*)(?:>[ \t]*)*(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)")
_BOX = re.compile(r"\[([ xX~!/-])\](?=[ \t]|$)[ \t]*(.*)", re.DOTALL)
_ROW = re.compile(r"[ \t]*\|(.+)\|[ \t]*")
# A link or an image; its address may hold parentheses once.
LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)?\)")
_LINE_END = re.compile(r"\r\n|\r|\n")


class Heading(NamedTuple):
    """A heading line; ``fence`` is the index of the fence around it, -1 for none."""

    start: int
    end: int
    level: int
    title: str
    fence: int


class Fence(NamedTuple):
    """A fenced region: its opening line from ``start``, its content from ``body`` to ``end``."""

    start: int
    body: int
    end: int
    info: str
    fence: int
    is_closed: bool = False


class Outline:
    """The headings and fences of a text by their offsets, each in order of appearance."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.fences: list[Fence] = []
        self._edges: list[int] = []
        self._fence_starts: list[int] = []

    def add_heading(self, heading: Heading) -> None:
        """Append *heading*, which comes after all that is here."""
        self.headings.append(heading)
        self._edges.append(heading.start)

    def add_fence(self, fence: Fence) -> None:
        """Append *fence*, which starts after all that is here."""
        self.fences.append(fence)
        self._edges.append(fence.start)
        self._fence_starts.append(fence.start)

    def close_fence(self, number: int, end: int) -> None:
        """End the content of the fence with index *number* at *end*."""
        self.fences[number] = self.fences[number]._replace(end=end, is_closed=True)

    def headings_before(self, offset: int) -> Iterator[Heading]:
        """Yield the headings that start before *offset*, the nearest first."""
        for number in range(bisect_left(self.headings, (offset,)) - 1, -1, -1):
            yield self.headings[number]

    def next_edge(self, after: int, end: int) -> int:
        """Return where the first heading or fence after *after* starts, or *end* if none does before."""
        number = bisect_right(self._edges, after)
        return min(self._edges[number], end) if number < len(self._edges) else end

    def fences_between(self, after: int, end: int) -> list[Fence]:
        """Return the fences that start between the two offsets."""
        return self.fences[bisect_right(self._fence_starts, after) : bisect_left(self._fence_starts, end)]


class _OpenFence(NamedTuple):
    number: int
    marker: str


def outline_of(text: str) -> Outline:
    """Return the outline of *text*, whose lines end in ``\\n``; an unclosed fence reaches to the end."""
    outline = Outline()
    stack: list[_OpenFence] = []
    for match in islice(_MARK.finditer(text), MAX_MARKS):
        start = _line_start(text, match.start())
        if start < 0:
            continue
        marker, rest = text[match.start() : match.start(1)], match[1].strip()
        around = stack[-1].number if stack else -1
        if marker[0] == "#":
            outline.add_heading(Heading(start, match.end(), len(marker), _title(rest), around))
        elif _closes(marker, rest, stack):
            outline.close_fence(stack.pop().number, start)
        elif len(stack) < MAX_FENCE_DEPTH and "`" not in rest:
            stack.append(_OpenFence(len(outline.fences), marker))
            outline.add_fence(Fence(start, match.end() + 1, len(text), rest.casefold(), around))
    return outline


LineKind = Literal["blank", "fence", "code", "heading", "bullet", "row", "rule", "text"]


class MarkdownLine(NamedTuple):
    """One line: ``text`` is the heading's title, the bullet's words, the row's cells, else all of it.

    ``box`` is the mark in a bullet's check box, empty without one; ``level`` is a heading's.
    """

    number: int
    raw: str
    kind: LineKind
    text: str = ""
    level: int = 0
    indent: int = 0
    box: str = ""

    @property
    def is_ticked(self) -> bool:
        """Whether its check box says done."""
        return self.box in ("x", "X")

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of a row."""
        return tuple(cell.strip() for cell in self.text.split("|"))


def split_lines(text: str) -> list[str]:
    """Return the lines of *text*, whatever ends them; nothing but line ends divides."""
    return _LINE_END.split(text)


def split_front_matter(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the front matter of *lines* and the rest; no front matter when it is not closed."""
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if start >= len(lines) or lines[start].strip() != "---":
        return [], lines
    end = next((n for n in range(start + 1, len(lines)) if lines[n].strip() in ("---", "...")), None)
    return ([], lines) if end is None else (lines[start + 1 : end], lines[end + 1 :])


def split_box(text: str) -> tuple[str, str]:
    """Return the mark in the check box that *text* begins with, empty without one, and the rest."""
    match = _BOX.fullmatch(text)
    return (match[1], match[2]) if match else ("", text)


def read_lines(lines: list[str]) -> list[MarkdownLine]:
    """Return what each of *lines* is; what lies in a closed fence is code."""
    return [
        MarkdownLine(number, line, kind, line) if kind else _classified(number, line)
        for number, (line, kind) in enumerate(zip(lines, _fenced(lines), strict=True), 1)
    ]


def _classified(number: int, line: str) -> MarkdownLine:
    bare = line.strip()
    if not bare:
        return MarkdownLine(number, line, "blank")
    if heading := _HEADING.fullmatch(line):
        return MarkdownLine(number, line, "heading", _title(heading[2].strip()), level=len(heading[1]))
    if _is_rule(bare):
        return MarkdownLine(number, line, "rule", bare)
    if bullet := _BULLET.fullmatch(line):
        box, words = split_box(bullet[2])
        return MarkdownLine(number, line, "bullet", words, indent=len(bullet[1].expandtabs(4)), box=box)
    if row := _ROW.fullmatch(line):
        return MarkdownLine(number, line, "row", row[1])
    return MarkdownLine(number, line, "text", bare)


def _fenced(lines: list[str]) -> list[Literal["", "fence", "code"]]:
    """Return for each line whether it opens or closes a fence, or lies in one; both only if it is closed."""
    kinds: list[Literal["", "fence", "code"]] = [""] * len(lines)
    text = "\n".join(lines)
    if "```" not in text and "~~~" not in text:
        return kinds
    line, counted = 0, 0
    for fence in outline_of(text).fences:
        line, counted = line + text.count("\n", counted, fence.start), fence.start
        last = line + text.count("\n", fence.start, fence.end)
        if fence.is_closed:
            inside: list[Literal["", "fence", "code"]] = ["code"] * (last - line - 1)
            kinds[line : last + 1] = ["fence", *inside, "fence"]
    return kinds


def _is_rule(bare: str) -> bool:
    """Return True for a rule, and for the line below a table's head."""
    if not bare.strip("-|: \t"):
        return "--" in bare
    return len(bare) > 2 and not (bare.strip("*") and bare.strip("_"))


def _title(rest: str) -> str:
    """Return *rest* without closing marks, which are marks only after a blank: ``C#`` is a name."""
    bare = rest.rstrip("#")
    return bare.rstrip(" \t") if not bare or bare[-1] in " \t" else rest


def _line_start(text: str, position: int) -> int:
    """Return where the line starts whose first word is at *position*, -1 if it is not its first word."""
    floor = max(0, position - MAX_INDENT - 1)
    start = text.rfind("\n", floor, position) + 1
    is_first = start > 0 or floor == 0
    return start if is_first and not text[start:position].strip(" \t") else -1


def _closes(marker: str, rest: str, stack: list[_OpenFence]) -> bool:
    if not stack or rest:
        return False
    opener = stack[-1].marker
    return marker[0] == opener[0] and len(marker) >= len(opener)
