"""Redact plain data: texts, lists and mappings, where the key of a value is evidence; private keys in PEM frames."""

import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from flowd.redaction.values import MARK, Secret

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
Redact = Callable[[str], str]


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


def redact_data(value: Any, redact: Redact, name: str = "") -> Any:
    """Return plain *value* with secrets masked in its texts and keys; *name* is the key of the value."""
    if isinstance(value, str):
        return _redact_text(value, name, redact)
    if isinstance(value, dict):
        return {_redact_key(key, redact): redact_data(item, redact, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [redact_data(item, redact, name) for item in _without_split_keys(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, int) and not isinstance(value, bool):
        return _redact_number(value, name, redact)
    return value


def _redact_text(text: str, name: str, redact: Redact) -> str:
    # A bare word is a secret when its key is ``password``.
    label = f"{name}: "
    labelled = redact(label + text)
    return labelled.removeprefix(label) if labelled.startswith(label) else redact(text)


def _redact_number(number: int, name: str, redact: Redact) -> int | str:
    text = _redact_text(str(number), name, redact) if name else str(number)
    return text if text != str(number) else number


def _redact_key(key: Any, redact: Redact) -> Any:
    return redact(key) if isinstance(key, str) else key


def _without_split_keys(items: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Return *items* without the private key that is spread over several of them, a line each."""
    texts = [item if isinstance(item, str) else "" for item in items]
    if not any(map(has_private_key, texts)):
        return list(items)
    together = "\n".join(texts)
    keys = [(secret.start, secret.end) for secret in find_private_keys(together)]
    masked, start = [], 0
    for item, text in zip(items, texts, strict=True):
        masked.append(_outside(text, start, keys) if text else item)
        start += len(text) + 1
    return masked


def _outside(text: str, offset: int, spans: list[tuple[int, int]]) -> str:
    """Return *text*, which begins at *offset*, with the part that lies in one of *spans* masked."""
    for start, end in reversed(spans):
        first, last = max(0, start - offset), min(len(text), end - offset)
        if first < last:
            text = f"{text[:first]}{MARK}private-key]{text[last:]}"
    return text
