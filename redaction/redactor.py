"""The redactor: every text flowd keeps passes through it before a byte is written."""

import bisect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from flowd.redaction.commands import find_in_commands
from flowd.redaction.data import find_private_keys, has_private_key
from flowd.redaction.http import find_in_headers, find_in_urls
from flowd.redaction.named import find_named
from flowd.redaction.names import find_names
from flowd.redaction.tokens import find_tokens
from flowd.redaction.values import MARK, Secret
from flowd.system.regex_cost import WINDOW, compile_all

# The shortest thing any rule calls a secret has a name and a value; below this nothing can match.
_MIN_TEXT = 8
# What is left after a redaction can join into something new once or twice, never endlessly.
_MAX_PASSES = 8
_PIECE = 8192
_MARKS = re.compile(re.escape(MARK) + r"[^\]\n]{1,64}\]")
# Rules look at one line, at a name and the value below it, or at the body of a key: there is no cut.
_CUT = re.compile(
    r"\n(?![ \t>+#*|-]{0,40}"
    r"(?:\\{0,7}[\"']?(?:[pP]arameter)?[vV][aA][lL][uU][eE]|<string>|[A-Za-z0-9+/]{40}))"
)


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


class Redactor:
    """Finds and masks secrets: the built-in kinds, and the patterns of a person and a project."""

    def __init__(self, patterns: Iterable[str] | Mapping[str, str] = ()) -> None:
        """Add *patterns*, regular expressions, bare or by kind; raise UnsafePatternError for a bad one.

        Where a pattern has a group, the group is the secret, else the whole match is.
        """
        self._custom: tuple[CustomPattern, ...] = compile_patterns(patterns)

    def with_patterns(self, patterns: Iterable[str] | Mapping[str, str]) -> "Redactor":
        """Return a redactor that knows *patterns* as well."""
        more = Redactor(patterns)
        more._custom = (*self._custom, *more._custom)
        return more

    def find(self, text: str) -> list[Secret]:
        """Return the secrets in *text*, in order, none overlapping another."""
        found = _without_marks(text, [*find_private_keys(text), *find_custom(text, self._custom)])
        for start, piece in _pieces(text):
            found.extend(Secret(kind, start + at, start + end) for kind, at, end in _find_in(piece))
        return _merged(found)

    def redact(self, text: str) -> str:
        """Return *text* with every secret replaced by ``[redacted:kind]``; doing it again changes nothing."""
        if self._custom:
            return _mask_until_clean(text, self.find)
        if has_private_key(text):
            text = _mask_until_clean(text, lambda text: list(find_private_keys(text)))
        return _redact_pieces(text) if len(text) >= _MIN_TEXT else text

    __call__ = redact


DEFAULT = Redactor()


def redact(text: str) -> str:
    """Return *text* with the secrets of the built-in rules replaced by ``[redacted:kind]``."""
    return DEFAULT.redact(text)


def find_secrets(text: str) -> list[Secret]:
    """Return kind and place of the secrets in *text* that the built-in rules find, in order."""
    return DEFAULT.find(text)


def _find_in(piece: str) -> list[Secret]:
    if len(piece) < _MIN_TEXT:
        return []
    # Lower case of this one letter is two; every other keeps all positions where they are.
    lowered = piece.replace("\u0130", "I").lower()
    # Tokens first: where two rules agree on a span, theirs is the most specific kind.
    found = [
        *find_tokens(piece),
        *find_in_urls(piece),
        *find_in_headers(piece, lowered),
        *find_in_commands(piece, lowered),
    ]
    if places := find_names(lowered):
        found += find_named(piece, lowered, places)
    return _merged(_without_marks(piece, found)) if found else found


def _without_marks(text: str, secrets: list[Secret]) -> list[Secret]:
    """Return *secrets* without those that would cut an earlier mark in two."""
    if not secrets or MARK not in text:
        return secrets
    marks = [match.span() for match in _MARKS.finditer(text)]

    def is_inside(position: int) -> bool:
        index = bisect.bisect_left(marks, (position, 0)) - 1
        return index >= 0 and position < marks[index][1]

    return [secret for secret in secrets if not is_inside(secret.start) and not is_inside(secret.end)]


def _redact_pieces(text: str) -> str:
    if len(text) <= _PIECE:
        return _redact_piece(text)
    return "".join(_redact_piece(piece) for _, piece in _pieces(text))


def _redact_piece(piece: str) -> str:
    secrets = _find_in(piece)
    if not secrets:
        return piece
    # Only the lines that held a secret are looked at a second time.
    parts, end = [], 0
    for start, stop, found in _lines_of(piece, secrets):
        masked = _mask(piece[start:stop], [Secret(kind, at - start, to - start) for kind, at, to in found])
        parts += [piece[end:start], _mask_until_clean(masked, _find_in)]
        end = stop
    return "".join(parts) + piece[end:]


def _lines_of(text: str, secrets: list[Secret]) -> Iterator[tuple[int, int, list[Secret]]]:
    """Yield where the lines that hold *secrets* start and end, with the secrets they hold."""
    start = stop = 0
    held: list[Secret] = []
    for secret in secrets:
        if held and secret.start >= stop:
            yield start, stop, held
            held = []
        start = start if held else text.rfind("\n", 0, secret.start) + 1
        held.append(secret)
        stop = text.find("\n", secret.end) + 1 or len(text)
    yield start, stop, held


def _mask_until_clean(text: str, find: Callable[[str], list[Secret]]) -> str:
    for _ in range(_MAX_PASSES):
        secrets = find(text)
        if not secrets:
            break
        text = _mask(text, secrets)
    return text


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while len(text) - start > _PIECE and (cut := _CUT.search(text, start + _PIECE)):
        yield start, text[start : cut.end()]
        start = cut.end()
    yield start, text[start:]


def _merged(secrets: list[Secret]) -> list[Secret]:
    merged: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if merged and secret.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, secret.end))
        else:
            merged.append(secret)
    return merged


def _mask(text: str, secrets: list[Secret]) -> str:
    ends = [0, *(secret.end for secret in secrets)]
    kept = [text[end : secret.start] for end, secret in zip(ends, secrets, strict=False)]
    marks = [f"{MARK}{secret.kind}]" for secret in secrets]
    return "".join(itertools.chain(*zip(kept, marks, strict=True))) + text[ends[-1] :]
