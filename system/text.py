"""Short texts for people: one line, cut to a length, lists that count what was left out."""

from collections.abc import Sequence

ELLIPSIS = "…"


def one_line(text: str) -> str:
    """Return *text* with every run of white space as one blank."""
    return " ".join(text.split())


def printable_line(text: str) -> str:
    """Return *text* on one line without control and format characters."""
    return one_line("".join(letter if letter.isprintable() else " " for letter in text))


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
