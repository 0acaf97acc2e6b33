"""Output for terminals: tables and texts that fit, colours, sizes, ages; and JSON."""

import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO

from flowd.system.errors import FlowdError
from flowd.system.text import visible as visible

# Where the width is unknown, and the most that a line of prose should have.
WIDTH = 80
MIN_WIDTH = 40
MAX_PROSE_WIDTH = 100
SCHEMA_VERSION = 1
# What flowd itself tells a terminal: colours, and to begin the line again.
_OWN_CONTROLS = re.compile(r"(\x1b\[(?:0|1|2|31|32|33)m|\r\x1b\[K)")


_CONTROLS = re.compile("[\x7f-\x9f]")


class OutputError(FlowdError):
    """Standard output takes no more."""


@contextmanager
def _output_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(
            f"cannot write the output: {error.strerror}", hint="free some space, or print somewhere else"
        ) from error


class ClosedStream:
    """A standard stream that the shell has closed (``>&-``)."""

    encoding = "utf-8"

    def write(self, _: str) -> int:
        """Raise OutputError: there is nowhere to write to."""
        raise OutputError("cannot write the output: it is closed", hint="to see nothing, use `> /dev/null`")

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def isatty(self) -> bool:
        """Return False."""
        return False


class VisibleStream:
    """A standard stream on which no text controls the terminal or hides in it, wherever it comes from."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write *text*, escaped as ``visible`` does; on a terminal flowd's own controls stay."""
        if self._stream.isatty():
            parts = _OWN_CONTROLS.split(text)
            parts[::2] = map(visible, parts[::2])
            shown = "".join(parts)
        else:
            shown = visible(text)
        with _output_errors():
            self._stream.write(shown)
        return len(text)

    def flush(self) -> None:
        """Flush the stream; raise OutputError if it takes no more."""
        with _output_errors():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Guard standard output and standard error of this process while the block runs."""
    with redirect_stdout(_guarded(sys.stdout)), redirect_stderr(_guarded(sys.stderr)):
        yield


def _guarded(stream: TextIO | None) -> Any:
    if stream is None:
        return ClosedStream()
    return stream if isinstance(stream, VisibleStream) else VisibleStream(stream)


def terminal_width() -> int:
    """Return the columns of the terminal, or COLUMNS, or 80 where neither is known."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return max(MIN_WIDTH, int(given))
    try:
        return (
            max(MIN_WIDTH, os.get_terminal_size(sys.__stdout__.fileno()).columns) if sys.__stdout__ else WIDTH
        )
    except (OSError, ValueError):
        return WIDTH


def text_width(text: str) -> int:
    """Return the columns that *text* takes on a terminal: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    import unicodedata

    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def table(rows: Sequence[Sequence[str]], *, shrink: Mapping[int, int]) -> list[str]:
    """Return *rows*, the first being the head, as aligned lines that fit the terminal.

    *shrink* maps the columns that may be cut to their least width; the widest gives way first.
    """
    rows = [[visible(cell.replace("\n", "\\n")) for cell in row] for row in rows]
    widths = [max(text_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    excess = sum(widths) + 2 * (len(widths) - 1) - terminal_width()
    while excess > 0:
        roomy = [column for column, least in shrink.items() if widths[column] > least]
        if not roomy:
            break
        widths[max(roomy, key=widths.__getitem__)] -= 1
        excess -= 1
    return [
        "  ".join(
            padded(shorten(cell, width), width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def padded(text: str, width: int) -> str:
    """Return *text* followed by blanks up to *width* columns."""
    return text + " " * (width - text_width(text))


def shorten(text: str, width: int) -> str:
    """Return *text* in at most *width* columns; cut the start of a path, the end of anything else."""
    if text_width(text) <= width:
        return text
    if text.startswith(("/", "~/")):
        return "…" + _fitting(text[::-1], width - 1)[::-1]
    return _fitting(text, width - 1) + "…"


def _fitting(text: str, width: int) -> str:
    """Return the longest start of *text* that takes at most *width* columns."""
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:index]
    return text


def and_more_line(shown: int, of: int, how: str) -> list[str]:
    """Return the line that counts what a list leaves out, and *how* to see it; none if it is complete."""
    return [f"and {of - shown} more: {how}"] if of > shown else []


def wrapped(text: str, *, first: str, rest: str) -> list[str]:
    """Return *text* as lines that fit the terminal, with one indent for the first, another for the rest."""
    width = min(terminal_width(), MAX_PROSE_WIDTH)
    lines = [first]
    for word in visible(text).split():
        while word:
            start = lines[-1]
            gap = "" if start in (first, rest) else " "
            if text_width(start + gap + word) <= width:
                lines[-1], word = start + gap + word, ""
            elif gap:
                lines.append(rest)
            elif "/" in word:  # a path in one piece can be copied, also where the terminal wraps it
                lines[-1], word = start + word, ""
            else:
                piece = _fitting(word, max(1, width - text_width(start)))
                lines[-1], word = start + piece, word[len(piece) :]
                lines += [rest] if word else []
    return [line.rstrip() for line in lines]


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


def print_json(value: object, *, name: str = "", as_it_is: bool = False) -> None:
    """Print *value* as indented JSON with the version of its shape; a list stands under *name*.

    Points in time, which are numbers within flowd, are ISO 8601 text. What has a documented schema of its
    own is printed *as_it_is*.
    """
    import msgspec

    if not as_it_is:
        plain = _plain(value)
        value = {"schema_version": SCHEMA_VERSION, **({name: plain} if name else plain)}
    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    # JSON has its own way to escape these; the other escapes of ``visible`` are JSON as they are.
    print(_CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def _plain(value: Any, key: str = "") -> Any:
    """Return *value* as JSON types, with every field of a struct, also those that hold their default."""
    import msgspec

    if isinstance(value, msgspec.Struct):
        fields = {field.encode_name: getattr(value, field.name) for field in msgspec.structs.fields(value)}
        return _plain({name: None if part is msgspec.UNSET else part for name, part in fields.items()}, key)
    if isinstance(value, dict):
        return {str(name): _plain(part, key if key == "at" else str(name)) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, key) for part in value]
    if isinstance(value, int | float) and (key == "at" or key.endswith("_at")):
        from flowd.system.times import iso_millis

        return iso_millis(value) if value else None
    return msgspec.to_builtins(value)
