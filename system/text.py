"""Short texts for people: one line, cut to a length, lists that say how much was left out."""

from collections.abc import Sequence

ELLIPSIS = "…"


def one_line(text: str) -> str:
    """Return *text* with every run of white space as one blank."""
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """Return *text* with at most *limit* characters, cut between words where that is possible."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    between = kept.rpartition(" ")[0]
    return (between if len(between) * 2 > limit else kept).rstrip() + ELLIPSIS


def and_more(items: Sequence[str], limit: int, separator: str = ", ") -> str:
    """Return the first *limit* items joined, followed by ``(+N more)`` if some were left out."""
    left = len(items) - limit
    shown = separator.join(items[:limit])
    return f"{shown} (+{left} more)" if left > 0 else shown
