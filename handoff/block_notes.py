"""Freeform notes taken apart: which passage stands under which heading, as an item of which list."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.handoff.block_cues import Topic, label_of, topic_of_heading

LONGEST_NOTE = 2000

_HEADING = re.compile(r"(#{1,6})[ \t]+(\S.*)")
_BOLD_HEADING = re.compile(r"\*\*([^*]{3,80}?):?\*\*:?")
_LABEL_LINE = re.compile(r"([A-Z][\w ,/'&()-]{2,60}|[a-z_]{3,40}):")
_FENCE = re.compile(r"(`{3,}|~{3,})")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,3}[.)])[ \t]+(?:\[([ xX])\][ \t]+)?(\S.*)")
_ROW = re.compile(r"[ \t]*\|(.*)\|[ \t]*")
_RULE_ROW = re.compile(r"[|:\s-]+")
_TITLE_LEVEL = 1


class Passage(NamedTuple):
    """One item or paragraph of the notes, on its line, under its topic; ``box`` is its check box, if any."""

    text: str
    line: int
    topic: Topic
    is_item: bool = False
    is_code: bool = False
    box: str = ""
    cells: tuple[str, ...] = ()


def passages(text: str) -> Iterator[Passage]:
    """Yield the passages of markdown *text* in order."""
    return _Reader(text.split("\n")).passages()


class _Reader:
    """One walk over the lines, with the topics of the headings above and the passage being gathered."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._topics: list[tuple[int, Topic]] = []
        self._label = Topic.NONE
        self._open: Passage | None = None
        self._indent = 0
        self._fence = ""

    def passages(self) -> Iterator[Passage]:
        for number, line in enumerate(self._lines, 1):
            yield from self._take(line, number)
        yield from self._close()

    @property
    def _topic(self) -> Topic:
        if self._label is not Topic.NONE:
            return self._label
        return self._topics[-1][1] if self._topics else Topic.NONE

    def _take(self, line: str, number: int) -> Iterator[Passage]:
        stripped = line.strip()
        fence = _FENCE.match(stripped)
        if self._fence or fence:
            yield from self._code(stripped, fence, number)
        elif not stripped or stripped in ("---", "***"):
            yield from self._close()
        elif heading := _HEADING.fullmatch(stripped):
            yield from self._close()
            self._enter(len(heading[1]), heading[2])
        elif bullet := _BULLET.fullmatch(line):
            yield from self._bullet(bullet, number)
        elif row := _ROW.fullmatch(line):
            yield from self._close()
            yield from self._row(row[1], number)
        else:
            yield from self._prose(stripped, number)

    def _code(self, stripped: str, fence: re.Match[str] | None, number: int) -> Iterator[Passage]:
        if not self._fence and fence:
            yield from self._close()
            self._fence = fence[1]
        elif fence and stripped.startswith(self._fence) and not stripped.strip(self._fence[0]):
            self._fence = ""
        elif stripped:
            yield Passage(stripped[:LONGEST_NOTE], number, self._topic, is_code=True)

    def _enter(self, level: int, title: str) -> None:
        self._label = Topic.NONE
        while self._topics and self._topics[-1][0] >= level:
            self._topics.pop()
        # The document's title names all of it ("Handoff: open questions of ...") and decides nothing.
        topic = topic_of_heading(title) if level > _TITLE_LEVEL else Topic.NONE
        if topic is Topic.NONE and self._topics:
            topic = self._topics[-1][1]
        self._topics.append((level, topic))

    def _bullet(self, bullet: re.Match[str], number: int) -> Iterator[Passage]:
        indent = len(bullet[1].expandtabs(4))
        if self._open is not None and self._open.is_item and indent > self._indent:
            self._extend("; " + bullet[3])
            return
        yield from self._close()
        self._indent = indent
        self._open = Passage(bullet[3], number, self._topic, is_item=True, box=bullet[2] or "")

    def _row(self, inner: str, number: int) -> Iterator[Passage]:
        following = self._lines[number] if number < len(self._lines) else ""
        is_header = _ROW.fullmatch(following) and _RULE_ROW.fullmatch(following)
        if not is_header and not _RULE_ROW.fullmatch(inner):
            cells = tuple(cell.strip() for cell in inner.split("|"))
            yield Passage(" — ".join(cell for cell in cells if cell), number, self._topic, True, cells=cells)

    def _prose(self, stripped: str, number: int) -> Iterator[Passage]:
        label = _BOLD_HEADING.fullmatch(stripped) or _LABEL_LINE.fullmatch(stripped)
        if label and (self._open is None or not self._open.is_item):
            yield from self._close()
            self._label = topic_of_heading(label[1])
        elif self._open is not None:
            self._extend(" " + stripped)
        else:
            self._open = Passage(stripped, number, self._topic)

    def _extend(self, more: str) -> None:
        assert self._open is not None
        if len(self._open.text) < LONGEST_NOTE:
            self._open = self._open._replace(text=self._open.text + more)

    def _close(self) -> Iterator[Passage]:
        if self._open is not None:
            passage, self._open = self._open, None
            label = label_of(passage.text)
            yield (
                passage
                if label is None
                else passage._replace(topic=label.topic, text=label.text, is_item=True)
            )
