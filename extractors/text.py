"""Markdown as plain text: pieces, sentences, and cutting at a word."""

import re
from collections.abc import Iterator
from operator import add

import msgspec

from flowd.system.markdown import LINK
from flowd.system.text import cut as cut

SHORT_WORD = 3

_FENCES = ("```", "~~~")
_CODE_SPAN = re.compile(r"((?<!`)`++[^`\n]++`+)")
_STARRED = re.compile(r"(?<![\w*/])\*(?!\s)([^*\n]+?)(?<!\s)\*(?![\w*])")
_UNDERSCORED = re.compile(r"(?<!\w)_([^_\n]+)_(?!\w)")
_MARKER = re.compile(r"\s*(?:#{1,6}\s+|>\s*|(?:[-*+•]|\d{1,2}[.)])\s+)*(?:\[[ xX]\]\s+)?")
_SYMBOL = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f\u200d\u2b50\u2b1c\u2b1b]+ *")
_TAG = re.compile(
    r"</?(?:br|b|i|em|strong|code|details|summary|sub|sup|kbd|p|div|span)\b[^<>\n]*>", re.IGNORECASE
)
_AFTER_STOP = r"[\"')\]*]*)(?<!e\.g\.|i\.e\.)(?<!vs\.|cf\.)\s+(?=[A-Z0-9\"'(\[`*/#—~])"
_SENTENCE_END = re.compile(r"([.!?]" + _AFTER_STOP)
# A single character is searched much faster than a class of three.
_FULL_STOP = re.compile(r"(\." + _AFTER_STOP)
_BULLET = re.compile(r"(?:[-*+•]|\d{1,2}[.)])\s+\S")
_BULLET_STARTS = frozenset("-*+•0123456789")
_TABLE_RULE = re.compile(r"[|:\s-]+")


class Piece(msgspec.Struct, gc=False):
    """A heading, list item, table row or paragraph as written, and the line that introduces it."""

    text: str
    lead: str = ""
    is_item: bool = False
    is_heading: bool = False


def plain(markdown: str) -> str:
    """Return one line of *markdown* without its markup."""
    marker = None if markdown[:1].isalpha() else _MARKER.match(markdown)
    line = markdown[marker.end() :] if marker else markdown
    if "`" in line:
        line = "".join([_bare(part) for part in _CODE_SPAN.split(line)])
    elif "*" in line or "_" in line or "~" in line:
        line = _bare(line)
    if "](" in line:
        line = LINK.sub(r"\1", line)
    if "<" in line:
        line = _TAG.sub(" ", line)
    if not line.isascii():
        line = _SYMBOL.sub("", line)
    return _with_single_blanks(line)


def _with_single_blanks(line: str) -> str:
    # The blank is the only printable white space, and most lines need no change.
    if line.isprintable() and "  " not in line:
        return line.strip(" ")
    return " ".join(line.split())


def _bare(part: str) -> str:
    if part.startswith("`"):
        return part.strip("`")
    part = part.replace("**", "").replace("~~", "")
    if "*" in part:
        part = _STARRED.sub(r"\1", part)
    if " _" in part or part.startswith("_"):
        part = _UNDERSCORED.sub(r"\1", part)
    return part


def without_code(text: str) -> str:
    """Return *text* with an empty line in place of each fenced code block."""
    # One character is searched much faster than three.
    if ("`" not in text or "```" not in text) and ("~" not in text or "~~~" not in text):
        return text
    kept: list[str] = []
    closing = ""
    for line in text.split("\n"):
        bare = line.strip(" \t")
        if closing:
            closing = "" if bare == closing else closing
        elif bare.startswith(_FENCES):
            closing = bare[:3]
            kept.append("")
        else:
            kept.append(line)
    return "\n".join(kept)


def sentences(text: str) -> list[str]:
    """Return the sentences of one paragraph."""
    end = _SENTENCE_END if "?" in text or "!" in text else _FULL_STOP
    parts = end.split(text)
    rest = parts.pop()
    found = list(map(add, parts[::2], parts[1::2]))
    if rest:
        found.append(rest)
    return found


def cut_at_sentence(text: str, size: int) -> str:
    """Return the sentences of *text* that fit whole into *size* characters, or its first one cut."""
    if len(text) <= size:
        return text
    kept = ""
    for sentence in sentences(text):
        longer = f"{kept} {sentence}" if kept else sentence
        if len(longer) > size:
            break
        kept = longer
    return kept or cut(text, size)


def content_words(text: str) -> set[str]:
    """Return the longer words of *text* in lower case."""
    return {
        word
        for one in text.lower().split()
        if len(one) > SHORT_WORD and len(word := one.strip(".,:;!?()\"'")) > SHORT_WORD
    }


def alike(one: set[str], other: set[str], share: float) -> bool:
    """Return True if the shorter of two sets of content words shares more than *share* with the other."""
    size, other_size = len(one), len(other)
    shorter = size if size < other_size else other_size
    return len(one & other) > share * shorter if shorter > 1 else one == other


def capitalised(text: str) -> str:
    """Return *text* with its first letter in upper case if its first word is a plain word."""
    word = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if word.isalpha() and word.islower() else text


def pieces(text: str, shortest: int = 2) -> Iterator[Piece]:
    """Yield the pieces of a markdown text in order, without code blocks and lines under *shortest*."""
    lead = ""
    for line in without_code(text).split("\n"):
        stripped = line.strip()
        if len(stripped) < shortest:
            if stripped and (stripped[0] == "#" or stripped.endswith((":", ":**"))):
                lead = stripped
            continue
        first = stripped[0]
        if first == "#" and stripped.lstrip("#").startswith(" "):
            lead = stripped
            yield Piece(stripped, is_heading=True)
        elif first == "|":
            yield from _row(stripped, lead)
        elif first in _BULLET_STARTS and _BULLET.match(stripped):
            yield Piece(stripped, lead, is_item=True)
        else:
            yield Piece(stripped, lead)
            lead = stripped if stripped.endswith((":", ":**")) else ""


def _row(line: str, lead: str) -> Iterator[Piece]:
    if _TABLE_RULE.fullmatch(line):
        return
    filled = [cell.strip() for cell in line.strip("|").split("|") if cell.strip()]
    if len(filled) > 1:
        yield Piece(f"{filled[0]}: {', '.join(filled[1:])}", lead, is_item=True)
