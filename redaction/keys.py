"""Private keys in a frame of ``BEGIN`` and ``END``, whole or cut off, in any layout."""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.redaction.secret import Secret

_MAX_KEY = 20_000
_FRAME = re.compile(r"-{4,5} ?(BEGIN|END)[ -]{1,2}(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?[ -]?-{4,5}")
_NAME = "PRIVATE KEY"
_MAX_FRAME = 64
# What people and programs put between the lines of a key: quotes, bullets, line numbers, escapes.
_BETWEEN = (
    r"(?:\s|\\{1,7}[nrt]|[\"'`+,>#|\[\]*→\\-]|<br>|\d{1,6}[.)\t→:|]"
    r"|(?:Proc-Type|DEK-Info|Comment|Version|Subject|Hash)[: ][^\n\\]{0,120}+)*+"
)
_BASE64 = r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{2,15}={1,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9]))"
BODY = "(?:" + _BETWEEN + _BASE64 + ")*+"
_BODY = re.compile(BODY)
_LINE_BREAK = re.compile(r"\r?\n|\\{1,7}n|<br>|(?<=[\"']),? ?(?=[\"'])| ")
_BODY_LINE = re.compile(_BETWEEN + _BASE64)
_NOISE = "\"'`>+#*|-, \t\r\n\\[]"
_LONG_RUN = re.compile(r"[A-Za-z0-9+/]{16}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}")


class _Frame(NamedTuple):
    """The line that begins or ends a key."""

    is_begin: bool
    start: int
    end: int


def has_private_key(text: str) -> bool:
    """Return True if *text* may hold a private key in a frame."""
    return _NAME in text or "Private-Lines:" in text


def find_private_keys(text: str) -> Iterator[Secret]:
    """Yield every private key in *text* that has a frame, whole or in part."""
    if _NAME in text:
        yield from _find_blocks(text, _frames(text))
    if "Private-Lines:" in text:
        for match in _PUTTY.finditer(text):
            yield Secret("private-key", match.end(), _end_of_body(text, match.end()))


def _frames(text: str) -> list[_Frame]:
    frames: list[_Frame] = []
    at = text.find(_NAME)
    while at >= 0:
        after = frames[-1].end if frames else 0
        if found := _FRAME.search(text, max(after, at - _MAX_FRAME), at + _MAX_FRAME):
            frames.append(_Frame(found[1] == "BEGIN", *found.span()))
        at = text.find(_NAME, at + 1)
    return frames


def _find_blocks(text: str, frames: list[_Frame]) -> Iterator[Secret]:
    done = 0
    for frame, following in itertools.zip_longest(frames, frames[1:]):
        if frame.start < done:
            continue
        if not frame.is_begin:
            yield from _headless(text, done, frame)
            done = frame.end
            continue
        done = _end_of_block(text, frame.end, following)
        if done > frame.end:
            yield Secret("private-key", frame.start, done)


def _end_of_block(text: str, start: int, following: _Frame | None) -> int:
    # An end far away is another block's: one cut off in the middle must not swallow what follows it.
    if following and not following.is_begin and following.start - start <= _MAX_KEY:
        return following.end if _LONG_RUN.search(text, start, following.start) else start
    return _end_of_body(text, start)


def _end_of_body(text: str, start: int) -> int:
    body = _BODY.match(text, start)
    return body.end() if body else start


def _headless(text: str, after: int, end: _Frame) -> Iterator[Secret]:
    """Yield the lines of a key that lead to *end*, whose beginning was cut off."""
    after = max(after, end.start - _MAX_KEY)
    lines = text[after : end.start]
    start = last = len(lines)
    for at in reversed([0, *(match.end() for match in _LINE_BREAK.finditer(lines))]):
        line = lines[at:last].strip(_NOISE)
        if line and not _BODY_LINE.fullmatch(line):
            break
        start, last = at if line else start, at
    if start < len(lines):
        yield Secret("private-key", after + start, end.end)
