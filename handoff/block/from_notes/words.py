"""Sentences and paths of notes as a block holds them: plain text, short, with the main point first."""

import re
from typing import NamedTuple

from flowd.system.markdown import LINK
from flowd.system.text import cut, one_line

MAX_CHARACTERS = 300
_MIN_WORDS = 3

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
    """The main point of a passage, and its explanation."""

    main: str
    rest: str


def plain(text: str) -> str:
    """Return *text* on one line without marks."""
    return one_line(_SYMBOLS.sub("", _MARKS.sub("", LINK.sub(r"\1", text))))


def point_of(text: str) -> Point:
    """Return the point of *text*: its bold lead or first sentence, and what comes after."""
    lead = _LEAD.fullmatch(text)
    if lead and len(plain(lead[1]).split()) > 2:
        return Point(shorten(plain(lead[1])), shorten(plain(lead[2])))
    first, *more = sentences(plain(text)) or [""]
    if more and len(first.split()) < _MIN_WORDS:
        first = f"{first} {more.pop(0)}"
    return Point(shorten(first), shorten(" ".join(more)))


def sentences(text: str) -> list[str]:
    """Return the sentences of *text*."""
    return [sentence for sentence in _SENTENCE_END.split(text.strip()) if sentence]


def shorten(text: str) -> str:
    """Return *text*, cut at a word if it is longer than a block should hold."""
    return cut(text, MAX_CHARACTERS)


def says_nothing(text: str) -> bool:
    """Return True if *text* is a placeholder such as "none" or "n/a"."""
    return _NOTHING.fullmatch(plain(text)) is not None


def level_of(text: str) -> str:
    """Return the severity or priority that the words of *text* imply."""
    if _HIGH.search(text):
        return "high"
    return "low" if _LOW.search(text) else "medium"


_EXTENSIONS = (
    "py pyi js mjs cjs ts tsx jsx json jsonl yaml yml toml md mdx rst txt sh bash rs go rb java kt swift "
    "c h cc cpp hpp cs php sql html css scss vue svelte lua ex exs erl hs ml scala clj proto graphql ini "
    "cfg conf lock svg ipynb service plist tf csv xml gradle"
).split()
_PATH = re.compile(
    r"(?<![\w/@:$~.\-])"
    rf"((?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.(?:{'|'.join(_EXTENSIONS)})|(?:[\w.@+-]+/)+(?:Makefile|Dockerfile|LICENSE))"
    r"(?![\w/]|\.\w)"
    r"(?::(\d+)(?:-(\d+))?)?"
)


class Mentioned(NamedTuple):
    """A path as mentioned, and its lines if they are named."""

    path: str
    lines: str


def mentioned_paths(text: str) -> list[Mentioned]:
    """Return the relative paths in *text*, each once, in order."""
    found: dict[str, Mentioned] = {}
    for match in _PATH.finditer(text):
        path = match[1].removeprefix("./")
        if ".." not in path.split("/"):
            lines = f"{match[2]}-{match[3] or match[2]}" if match[2] and int(match[2]) > 0 else ""
            is_range = not match[3] or int(match[2]) <= int(match[3])
            found.setdefault(path, Mentioned(path, lines if is_range else ""))
    return list(found.values())
