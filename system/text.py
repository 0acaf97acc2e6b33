"""Short texts for people: one line, cut to a length, lists that count what was left out."""

import functools
import re
from collections.abc import Sequence

ELLIPSIS = "…"
# Control characters but line feed and tab, and what is there without being seen: format characters, lone
# surrogates, separators, private use, tags, and the selectors that carry hidden bytes. Joiners and the two
# selectors of emoji stay, but only once after a letter.
_UNSEEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
    "|(?<=[\u200c\u200d\ufe0e\ufe0f])[\u200c\u200d\ufe0e\ufe0f](?<!\ufe0f\u200d)"
    "|(?<![^\x00-\x7f])[\u200c\u200d\ufe0e]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


@functools.cache
def _unseen() -> re.Pattern[str]:
    return re.compile(_UNSEEN)


def visible(text: str) -> str:
    """Return *text* with what a terminal obeys as ``\\xXX``, what it does not show as ``\\uXXXX``."""
    # Most texts are plain lines; the expression is compiled only for others.
    plain = text.isascii() and text.replace("\n", "").isprintable()
    return text if plain else _unseen().sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    if match[0] < "\xa0":
        return f"\\x{ord(match[0]):02x}"
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def one_line(text: str) -> str:
    """Return *text* with every run of white space as one blank."""
    return " ".join(text.split())


def printable_line(text: str) -> str:
    """Return *text* on one line without control and format characters."""
    return one_line("".join(letter if letter.isprintable() else " " for letter in text))


def is_storable(text: str) -> bool:
    """Return True if *text* has neither NUL, which no path may have, nor bytes that were not UTF-8."""
    return "\0" not in text and (text.isascii() or _SURROGATE.search(text) is None)


def storable(text: str) -> str:
    """Return *text* with a replacement character for each NUL and for each byte that was not UTF-8."""
    return text if is_storable(text) else _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def cut(text: str, size: int) -> str:
    """Return *text*, cut at a word when it is longer than *size* characters."""
    if len(text) <= size:
        return text
    end = text.rfind(" ", 0, size)
    return text[: end if end > size // 2 else size - 1].rstrip(" ,;:—-(") + ELLIPSIS


def and_more(items: Sequence[str], limit: int, separator: str = ", ") -> str:
    """Return the first *limit* items joined, followed by ``(+N more)`` if some were left out."""
    left = len(items) - limit
    shown = separator.join(items[:limit])
    return f"{shown} (+{left} more)" if left > 0 else shown
