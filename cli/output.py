"""Output for terminals of 80 columns: tables, colours, sizes, ages; and JSON."""

import os
import re
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

import msgspec

from flowd.system.text import visible as visible

WIDTH = 80
# What flowd itself tells a terminal: colours, and to begin the line again.
_OWN_CONTROLS = re.compile(r"(\x1b\[(?:0|1|2|31|32|33)m|\r\x1b\[K)")


_CONTROLS = re.compile("[\x7f-\x9f]")


class VisibleStream:
    """A standard stream on which no text controls the terminal or hides in it, wherever it comes from."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write *text*, escaped as ``visible`` does; on a terminal flowd's own controls stay."""
        if self._stream.isatty():
            parts = _OWN_CONTROLS.split(text)
            parts[::2] = map(visible, parts[::2])
            self._stream.write("".join(parts))
        else:
            self._stream.write(visible(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Guard standard output and standard error of this process while the block runs."""
    with redirect_stdout(_guarded(sys.stdout)), redirect_stderr(_guarded(sys.stderr)):
        yield


def _guarded(stream: TextIO) -> Any:
    return stream if isinstance(stream, VisibleStream) else VisibleStream(stream)


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
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    # JSON has its own way to escape these; the other escapes of ``visible`` are JSON as they are.
    print(_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text))
