"""Private keys: whole blocks, blocks that were cut off, and bodies without their frame."""

import re
from collections.abc import Iterator

from flowd.redaction.secret import Secret

_MAX_KEY = 20_000
_MIN_BODY = 40
_KIND = r"[ -]{1,2}(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?[ -]?-{4,5}"
_BEGIN = re.compile(r"-{4,5} ?BEGIN" + _KIND)
_END = re.compile(r"-{4,5} ?END" + _KIND)
# What people and programs put between the lines of a key: quotes, bullets, line numbers, escapes.
_BETWEEN = (
    r"(?:\s|\\{1,7}[nrt]|[\"'`+,>#|\[\]*→\\-]|<br>|\d{1,6}[.)\t→:|]"
    r"|(?:Proc-Type|DEK-Info|Comment|Version|Subject|Hash)[: ][^\n\\]{0,120}+)*+"
)
_BASE64 = r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{2,15}={1,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9]))"
_BODY = re.compile("(?:" + _BETWEEN + _BASE64 + ")*+")
_LINE_BREAK = re.compile(r"\r?\n|\\{1,7}n|<br>|(?<=[\"']),? ?(?=[\"'])| ")
_BODY_LINE = re.compile(_BETWEEN + _BASE64 + r"[\"'`,+ \\|\]]{0,8}\Z")
# DER of a key starts with these bytes, whatever the key: version 0 or 1 inside a sequence.
_BARE_BODY = re.compile(
    r"(?<![A-Za-z0-9/])(?:MII[A-Za-z0-9+/]{2,3}[QgAw]IB(?:AAKC|ADAN|AASC)[A-Za-z0-9+/]|MC4CAQAwBQYDK2V|MHcCAQEEI"
    r"|MIGHAgEAMBMG|b3BlbnNzaC1rZXktdjE)"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9+/]{16}")
_PUTTY = re.compile(r"Private-Lines: \d{1,3}")


def find_private_keys(text: str) -> Iterator[Secret]:
    """Yield every private key in *text*, whole or in part."""
    if "-" in text and "---" in text and " KEY" in text:
        yield from _find_blocks(text)
    if "MII" in text or "b3Blbn" in text or "MC4C" in text or "MHcC" in text or "MIGH" in text:
        for match in _BARE_BODY.finditer(text):
            end = _end_of_body(text, match.start())
            if end - match.start() >= _MIN_BODY:
                yield Secret("private-key", match.start(), end)
    if "Private-Lines:" in text:
        for match in _PUTTY.finditer(text):
            yield Secret("private-key", match.end(), _end_of_body(text, match.end()))


def _find_blocks(text: str) -> Iterator[Secret]:
    ends = _END.finditer(text)
    end = next(ends, None)
    position = 0
    while begin := _BEGIN.search(text, position):
        while end and end.start() < begin.end():
            yield from _headless(text, position, end)
            end = next(ends, None)
        position = _end_of_block(text, begin.end(), end)
        if position > begin.end():
            yield Secret("private-key", begin.start(), position)
        if end and position >= end.end():
            end = next(ends, None)
    while end:
        yield from _headless(text, position, end)
        end = next(ends, None)


def _end_of_block(text: str, start: int, end: re.Match[str] | None) -> int:
    # An end far away is another block's: one cut off in the middle must not swallow what follows it.
    if end and end.start() - start <= _MAX_KEY and not _BEGIN.search(text, start, end.start()):
        return end.end() if _LONG_RUN.search(text, start, end.start()) else start
    return _end_of_body(text, start)


def _end_of_body(text: str, start: int) -> int:
    body = _BODY.match(text, start)
    return body.end() if body else start


def _headless(text: str, after: int, end: re.Match[str]) -> Iterator[Secret]:
    """Yield the lines of a key that lead to *end*, whose beginning was cut off."""
    after = max(after, end.start() - _MAX_KEY)
    lines = text[after : end.start()]
    breaks = [0, *(match.end() for match in _LINE_BREAK.finditer(lines))]
    start = len(lines)
    for at in reversed(breaks):
        line = lines[at:start].rstrip("\r\n ")
        if line.strip("\"'`>+#*|- \t\\n,[") and not _BODY_LINE.match(line.rstrip("\\n<br>")):
            break
        start = at
    if start < len(lines):
        yield Secret("private-key", after + start, end.end())
