"""The patterns that a person or a project adds: vetted once, then searched window by window."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from flowd.redaction.secret import MARK, Secret
from flowd.system.regex_cost import WINDOW, compile_all


class CustomPattern(NamedTuple):
    """A vetted regular expression and the kind of secret it finds; group 1, if any, is the secret."""

    kind: str
    expression: re.Pattern[str]


def compile_patterns(patterns: Iterable[str] | Mapping[str, str]) -> tuple[CustomPattern, ...]:
    """Return *patterns*, bare or by kind, ready for use; raise UnsafePatternError for one that is unsafe."""
    if isinstance(patterns, Mapping):
        kinds, expressions = list(patterns.keys()), list(patterns.values())
    else:
        expressions = list(dict.fromkeys(patterns))
        kinds = ["custom"] * len(expressions)
    return tuple(map(CustomPattern, kinds, compile_all(expressions)))


def find_custom(text: str, patterns: Iterable[CustomPattern]) -> Iterator[Secret]:
    """Yield every match of *patterns* in *text* that is not masked already."""
    for pattern in patterns:
        for match in _matches(pattern.expression, text):
            start, end = match.span(1 if pattern.expression.groups and match[1] is not None else 0)
            if end > start and not text.startswith(MARK, start):
                yield Secret(pattern.kind, start, end)


def _matches(expression: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of *expression*; no attempt sees more than a window, which bounds its cost."""
    position = 0
    while position < len(text):
        # A match may start in the first half of the window and end in the second.
        limit = position + WINDOW
        match = expression.search(text, position, limit)
        if match and match.start() < position + WINDOW // 2:
            match = _with_more_room(expression, match, limit)
            yield match
            position = max(match.end(), match.start() + 1)
        else:
            position += WINDOW // 2


def _with_more_room(expression: re.Pattern[str], match: re.Match[str], limit: int) -> re.Match[str]:
    """Return *match*, or the longer one that starts there if it was cut off by the *limit* of its window."""
    text = match.string
    room = WINDOW
    while match.end() == limit < len(text):
        room *= 8
        limit = min(match.start() + room, len(text))
        longer = expression.match(text, match.start(), limit)
        if not longer:
            break
        match = longer
    return match
