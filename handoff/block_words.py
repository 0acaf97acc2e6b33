"""Sentences of notes as a block holds them: plain, short, split into the point and what follows it."""

import re
from typing import NamedTuple

LONGEST = 300
_FEWEST_WORDS = 3

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"\*\*|__|~~|`|(?<!\w)\*(?=\S)|(?<=\S)\*(?!\w)")
_SYMBOLS = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d\u2b50]+ *")
_LEAD = re.compile(r"\*\*(.{3,200}?)[.:]?\*\*[.:]?\s*(?:[—–-]+\s+)?(\S.*)", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!vs\.)[\"')\]]?\s+(?=[A-Z\"'(`*~\d])")
_NOTHING = re.compile(
    r"(?:none|n/?a|nothing|no (?:blockers?|questions?|issues?))\b.{0,40}|[\W_]*", re.IGNORECASE
)
_HIGH = re.compile(
    r"\b(?:critical|urgent|severe|never|must|data loss|blocks?|tier-1|p0|high)\b|🔴|⚠", re.IGNORECASE
)
_LOW = re.compile(
    r"\b(?:minor|optional|nice[- ]to[- ]have|low|someday|if desired|cosmetic)\b|🟢", re.IGNORECASE
)


class Point(NamedTuple):
    """The point of a passage, and the rest that explains it."""

    main: str
    rest: str


def plain(text: str) -> str:
    """Return *text* on one line without marks."""
    return " ".join(_SYMBOLS.sub("", _MARKS.sub("", _LINK.sub(r"\1", text))).split())


def point_of(text: str) -> Point:
    """Return the point of *text*: its bold lead or first sentence, and what comes after."""
    lead = _LEAD.fullmatch(text)
    if lead and len(plain(lead[1]).split()) > 2:
        return Point(cut(plain(lead[1])), cut(plain(lead[2])))
    first, *more = sentences(plain(text)) or [""]
    if more and len(first.split()) < _FEWEST_WORDS:
        first = f"{first} {more.pop(0)}"
    return Point(cut(first), cut(" ".join(more)))


def sentences(text: str) -> list[str]:
    """Return the sentences of *text*."""
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


def cut(text: str) -> str:
    """Return *text*, cut at a word when it is long."""
    if len(text) <= LONGEST:
        return text
    return text[: LONGEST - 1].rpartition(" ")[0].rstrip(" ,;:—") + "…"


def says_nothing(text: str) -> bool:
    """Tell whether *text* only says that there is nothing to say."""
    return _NOTHING.fullmatch(plain(text)) is not None


def level_of(text: str) -> str:
    """Return how much weight *text* gives to itself."""
    if _HIGH.search(text):
        return "high"
    return "low" if _LOW.search(text) else "medium"
