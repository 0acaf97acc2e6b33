"""The layout of a markdown text: its headings and fences, and which lies in which."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

# More structure than this is no document that a person or an agent wrote by hand.
MOST_MARKS = 5000
DEEPEST_FENCE = 8
DEEPEST_INDENT = 12

# Found anywhere and then checked to start its line: far faster than trying every line's start.
_MARK = re.compile(r"[#`~](?<![^ \t\n].)(?:(?<=#)#{0,5}(?=[ \t])|(?<=`)``+|(?<=~)~~+)([^\n]*)")


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


class Layout:
    """All headings and fences of a text, each in order of appearance."""

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

    def headings_before(self, place: int) -> Iterator[Heading]:
        """Yield the headings that start before *place*, the nearest first."""
        for number in range(bisect_left(self.headings, (place,)) - 1, -1, -1):
            yield self.headings[number]

    def next_edge(self, after: int, end: int) -> int:
        """Return where the first heading or fence after *after* starts, or *end* if none does before."""
        number = bisect_right(self._edges, after)
        return min(self._edges[number], end) if number < len(self._edges) else end

    def fences_between(self, after: int, end: int) -> list[Fence]:
        """Return the fences that start between the two places."""
        return self.fences[bisect_right(self._fence_starts, after) : bisect_left(self._fence_starts, end)]


class _Open(NamedTuple):
    number: int
    marker: str


def layout_of(text: str) -> Layout:
    """Return the layout of *text*; a fence with a name inside a fence lies in it, as authors mean it."""
    layout = Layout()
    stack: list[_Open] = []
    for match in islice(_MARK.finditer(text), MOST_MARKS):
        start = _line_start(text, match.start())
        if start < 0:
            continue
        marker, rest = text[match.start() : match.start(1)], match[1].strip()
        around = stack[-1].number if stack else -1
        if marker[0] == "#":
            title = rest.rstrip("#").rstrip()
            layout.add_heading(Heading(start, match.end(), len(marker), title, around))
        elif _closes(marker, rest, stack):
            number = stack.pop().number
            layout.fences[number] = layout.fences[number]._replace(end=start)
        elif len(stack) < DEEPEST_FENCE and "`" not in rest:
            stack.append(_Open(len(layout.fences), marker))
            layout.add_fence(Fence(start, match.end() + 1, len(text), rest.casefold(), around))
    return layout


def _line_start(text: str, position: int) -> int:
    """Return where the line starts whose first word is at *position*, -1 if it is not its first word."""
    floor = max(0, position - DEEPEST_INDENT - 1)
    start = text.rfind("\n", floor, position) + 1
    is_first = start > 0 or floor == 0
    return start if is_first and not text[start:position].strip(" \t") else -1


def _closes(marker: str, rest: str, stack: list[_Open]) -> bool:
    if not stack or rest:
        return False
    opener = stack[-1].marker
    return marker[0] == opener[0] and len(marker) >= len(opener)
