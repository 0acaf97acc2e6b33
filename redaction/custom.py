"""The patterns that a person or a project adds: vetted once, then searched window by window."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from flowd.redaction.secret import MARK, Secret
from flowd.system.regex_cost import WINDOW, compile_all

# A match that fills its window is tried again with this much room.
_MAX_SECRET = 64 * WINDOW


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
    """Yield every match of *patterns* in *text*, except in what has been masked before."""
    for pattern in patterns:
        for match in _matches(pattern.expression, text):
            start, end = match.span(1 if pattern.expression.groups and match[1] is not None else 0)
            if end > start and not _is_masked(text, start):
                yield Secret(pattern.kind, start, end)


def _matches(expression: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of *expression*; no attempt sees more than a window, which bounds its cost."""
    position = 0
    while position < len(text):
        # A match may start in the first half of the window and end in the second.
        limit = position + WINDOW
        match = expression.search(text, position, limit)
        if match and match.start() < position + WINDOW // 2:
            if match.end() == limit:
                match = expression.match(text, match.start(), match.start() + _MAX_SECRET) or match
            yield match
            position = max(match.end(), match.start() + 1)
        else:
            position += WINDOW // 2


def _is_masked(text: str, start: int) -> bool:
    mark = text.rfind(MARK, max(0, start - 64), start + len(MARK))
    return mark >= 0 and "]" not in text[mark:start]
