"""Split freeform notes into passages: list items, rows, paragraphs, each with its topic."""

import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.handoff.headings import HeadingKind, kind_of_heading
from flowd.system.markdown import MarkdownLine, read_lines, split_lines


class Topic(enum.Enum):
    """What a passage is about, in terms of a block's fields."""

    NONE = "none"
    DONE = "done"
    NEXT = "next"
    GOTCHA = "gotcha"
    BLOCKER = "blocker"
    QUESTION = "question"
    PATTERN = "pattern"
    FILES = "files"
    CREATED = "created"
    READING = "reading"
    ASIDE = "aside"


class Labelled(NamedTuple):
    """The topic of a label, and the text after it."""

    topic: Topic
    text: str


Cues = dict[Topic, re.Pattern[str]]


def _cues(table: dict[Topic, str]) -> Cues:
    # Verbose patterns: white space is layout, "~" is a blank.
    return {
        topic: re.compile(words.replace("~", "[ ]"), re.IGNORECASE | re.VERBOSE)
        for topic, words in table.items()
    }


_TOPICS: dict[HeadingKind, Topic] = {
    "done": Topic.DONE,
    "changes": Topic.FILES,
    "next": Topic.NEXT,
    "advice": Topic.NONE,
    "gotchas": Topic.GOTCHA,
    "risks": Topic.GOTCHA,
    "failures": Topic.GOTCHA,
    "reflection": Topic.PATTERN,
    "decisions": Topic.PATTERN,
    "rationale": Topic.ASIDE,
    "rules": Topic.PATTERN,
    "patterns": Topic.PATTERN,
    "questions": Topic.QUESTION,
    "blockers": Topic.BLOCKER,
    "files": Topic.FILES,
    "created": Topic.CREATED,
    "reading": Topic.READING,
    "context": Topic.ASIDE,
    "reference": Topic.ASIDE,
}
_LABELS = _cues(
    {
        Topic.QUESTION: r"""unclear | (?:open~)?questions? | needs?~verification | unexplored | consider
            | might~matter""",
        Topic.GOTCHA: r"""gotcha | warning | caveat | (?:be~)?careful | watch~out | risk | critical
            | known~issue | don'?t~bother~with""",
        Topic.PATTERN: r"pattern | decision | decided | convention | rule | assumption | lesson | learning",
        Topic.BLOCKER: r"blocker | blocked(?:~by|~on)?",
        Topic.NEXT: r"next(?:~steps?)? | to-?do | start~by | follow-?up | recommendation",
    }
)
_SENTENCES = _cues(
    {
        Topic.QUESTION: r"^question\b | \bunclear\b",
        Topic.GOTCHA: r"\bwatch~out\b | \bbe~careful\b | \bbeware\b | \bgotcha\b",
        Topic.PATTERN: r"\bpattern: | \balways~use\b | \bnever~use\b",
        Topic.NEXT: r"""^(?:next|then)\b[^?]*$
            | \bshould\b(?!n't|~not)[^?]*$""",
    }
)
_LABEL_START = re.compile(r"\*\*([^*:]{3,40}):?\*\*:?\s|([A-Z][A-Z ]{2,30}):\s")


def topic_of_heading(title: str) -> Topic:
    """Return what a section called *title* is about."""
    kind = kind_of_heading(title)
    return _TOPICS[kind] if kind else Topic.NONE


def label_of(text: str) -> Labelled | None:
    """Return the topic of the label that *text* begins with, as in ``**UNCLEAR:** ...``, and the rest."""
    match = _LABEL_START.match(text)
    topic = _first(_LABELS, match[1] or match[2], whole=True) if match else Topic.NONE
    if match is None or topic is Topic.NONE:
        return None
    # "Start by: reading x" is a sentence with its label and none without.
    is_part = (match[1] or match[2]).casefold().startswith(("start", "don", "blocked"))
    return Labelled(topic, text.replace("**", "", 2) if is_part else text[match.end() :])


def topic_of_sentence(sentence: str) -> Topic:
    """Return what *sentence* is about by the specification's cues."""
    return _first(_SENTENCES, sentence)


def _first(cues: Cues, text: str, *, whole: bool = False) -> Topic:
    for topic, pattern in cues.items():
        if pattern.fullmatch(text.strip()) if whole else pattern.search(text):
            return topic
    return Topic.NONE


MAX_NOTE_CHARACTERS = 2000

_BOLD_HEADING = re.compile(r"\*\*([^*]{3,80}?):?\*\*:?")
_LABEL_LINE = re.compile(r"([A-Z][\w ,/'&()-]{2,60}|[a-z_]{3,40}):")
_TITLE_LEVEL = 1


class NotePassage(NamedTuple):
    """One item or paragraph of the notes, on its line, under its topic; ``box`` is its check box, if any."""

    text: str
    line: int
    topic: Topic
    is_item: bool = False
    is_code: bool = False
    box: str = ""
    cells: tuple[str, ...] = ()


def passages(text: str) -> Iterator[NotePassage]:
    """Yield the passages of markdown *text* in order."""
    return _Reader(read_lines(split_lines(text))).passages()


class _Reader:
    """One walk over the lines, with the topics of the headings above and the passage being gathered."""

    def __init__(self, lines: list[MarkdownLine]) -> None:
        self._lines = lines
        self._topics: list[tuple[int, Topic]] = []
        self._label = Topic.NONE
        self._open: NotePassage | None = None
        self._indent = 0

    def passages(self) -> Iterator[NotePassage]:
        for line in self._lines:
            yield from self._take(line)
        yield from self._close()

    @property
    def _topic(self) -> Topic:
        if self._label is not Topic.NONE:
            return self._label
        return self._topics[-1][1] if self._topics else Topic.NONE

    def _take(self, line: MarkdownLine) -> Iterator[NotePassage]:
        if line.kind == "bullet":
            yield from self._bullet(line)
        elif line.kind == "text":
            yield from self._prose(line)
        else:
            yield from self._close()
            if line.kind == "heading":
                self._enter(line.level, line.text)
            elif line.kind == "row":
                yield from self._row(line)
            elif line.kind == "code" and line.raw.strip():
                code = line.raw.strip()[:MAX_NOTE_CHARACTERS]
                yield NotePassage(code, line.number, self._topic, is_code=True)

    def _enter(self, level: int, title: str) -> None:
        self._label = Topic.NONE
        while self._topics and self._topics[-1][0] >= level:
            self._topics.pop()
        # The document's title names all of it ("Handoff: open questions of ...") and decides nothing.
        topic = topic_of_heading(title) if level > _TITLE_LEVEL else Topic.NONE
        if topic is Topic.NONE and self._topics:
            topic = self._topics[-1][1]
        self._topics.append((level, topic))

    def _bullet(self, line: MarkdownLine) -> Iterator[NotePassage]:
        if self._open is not None and self._open.is_item and line.indent > self._indent:
            self._extend("; " + line.text)
            return
        yield from self._close()
        self._indent = line.indent
        self._open = NotePassage(line.text, line.number, self._topic, is_item=True, box=line.box)

    def _row(self, line: MarkdownLine) -> Iterator[NotePassage]:
        following = self._lines[line.number] if line.number < len(self._lines) else None
        if following is None or following.kind != "rule":  # the row above a rule is the head of the table
            text = " — ".join(cell for cell in line.cells if cell)
            yield NotePassage(text, line.number, self._topic, is_item=True, cells=line.cells)

    def _prose(self, line: MarkdownLine) -> Iterator[NotePassage]:
        label = _BOLD_HEADING.fullmatch(line.text) or _LABEL_LINE.fullmatch(line.text)
        if label and (self._open is None or not self._open.is_item):
            yield from self._close()
            self._label = topic_of_heading(label[1])
        elif self._open is not None:
            self._extend(" " + line.text)
        else:
            self._open = NotePassage(line.text, line.number, self._topic)

    def _extend(self, more: str) -> None:
        assert self._open is not None
        if len(self._open.text) < MAX_NOTE_CHARACTERS:
            self._open = self._open._replace(text=self._open.text + more)

    def _close(self) -> Iterator[NotePassage]:
        if self._open is not None:
            passage, self._open = self._open, None
            label = label_of(passage.text)
            yield (
                passage
                if label is None
                else passage._replace(topic=label.topic, text=label.text, is_item=True)
            )
