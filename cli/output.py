"""Output for terminals of 80 columns: tables, colours, sizes, ages; and JSON."""

import os
import sys
import textwrap
import time
from collections.abc import Sequence

import msgspec

WIDTH = 80
# Names and errors may come from others: they must not control the terminal.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def table(rows: Sequence[Sequence[str]], *, shrink: int = 0) -> list[str]:
    """Return *rows*, the first being the head, as aligned lines; cut column *shrink* to fit the width."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    excess = sum(widths) + 2 * (len(widths) - 1) - WIDTH
    if excess > 0:
        widths[shrink] = max(8, widths[shrink] - excess)
    return [
        "  ".join(shorten(cell, width).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def visible(text: str) -> str:
    """Return *text* with control characters escaped."""
    return text.translate(_VISIBLE)


def shorten(text: str, width: int) -> str:
    """Return *text* in at most *width* characters; cut the start of a path, the end of anything else."""
    if len(text) <= width:
        return text
    if "/" in text:
        return "…" + text[len(text) - width + 1 :]
    return text[: width - 1] + "…"


def wrapped(text: str, *, first: str, rest: str) -> list[str]:
    """Return *text* as lines that fit the width, with one indent for the first and another for the rest."""
    return textwrap.wrap(visible(text), WIDTH, initial_indent=first, subsequent_indent=rest) or [
        first.rstrip()
    ]


def ago(at: float) -> str:
    """Return how long ago *at* was, such as ``5m ago``."""
    if not at:
        return "never"
    gap = max(0.0, time.time() - at)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if gap >= size:
            return f"{int(gap // size)}{unit} ago"
    return f"{int(gap)}s ago"


def size(count: float) -> str:
    """Return a number of bytes with a unit, such as ``1.5 KB``."""
    for unit in ("B", "KB", "MB", "GB"):
        if abs(count) < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError


def home_relative(path: str) -> str:
    """Return *path* with the home directory written as ``~``."""
    home = os.path.expanduser("~")  # noqa: PTH111 a string is wanted
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def paint(text: str, colour: str) -> str:
    """Return *text* in a colour, unless the output is no terminal or NO_COLOR is set."""
    codes = {"green": "32", "yellow": "33", "red": "31", "bold": "1", "dim": "2"}
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    return f"\x1b[{codes[colour]}m{text}\x1b[0m"


def print_json(value: object) -> None:
    """Print *value* as indented JSON."""
    print(msgspec.json.format(msgspec.json.encode(value)).decode())
