"""The layout of a markdown text: its headings and fences, and which lies in which."""

import re
from typing import NamedTuple

# More structure than this is no document that a person or an agent wrote by hand.
MOST_MARKS = 10_000
DEEPEST_FENCE = 8

_MARK = re.compile(r"^[ \t]{0,12}(?:(#{1,6})[ \t]+([^\n]*)|(`{3,}|~{3,})[ \t]*([^\n`]*))$", re.MULTILINE)


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


class Layout(NamedTuple):
    """All headings and fences of a text, each in order of appearance."""

    headings: list[Heading]
    fences: list[Fence]


class _Open(NamedTuple):
    index: int
    marker: str


def layout_of(text: str) -> Layout:
    """Return the layout of *text*. A fence with a name inside a fence is a fence in it, as authors mean it."""
    layout = Layout([], [])
    stack: list[_Open] = []
    for number, match in enumerate(_MARK.finditer(text)):
        if number >= MOST_MARKS:
            break
        around = stack[-1].index if stack else -1
        if match[1]:
            title = match[2].strip().rstrip("#").strip()
            layout.headings.append(Heading(match.start(), match.end(), len(match[1]), title, around))
        elif _closes(match, stack):
            index = stack.pop().index
            layout.fences[index] = layout.fences[index]._replace(end=match.start())
        elif len(stack) < DEEPEST_FENCE:
            stack.append(_Open(len(layout.fences), match[3]))
            info = match[4].strip().casefold()
            layout.fences.append(Fence(match.start(), match.end() + 1, len(text), info, around))
    return layout


def _closes(match: re.Match[str], stack: list[_Open]) -> bool:
    if not stack or match[4].strip():
        return False
    opener = stack[-1].marker
    return match[3][0] == opener[0] and len(match[3]) >= len(opener)
