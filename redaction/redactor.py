"""The one redactor: every text flowd keeps passes through it before a byte is written."""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from flowd.redaction.named import find_named
from flowd.redaction.placed import find_placed, find_private_keys
from flowd.redaction.tokens import Secret, find_tokens
from flowd.system.errors import FlowdError

# The shortest thing any rule calls a secret has a name and a value; below this nothing can match.
_SHORTEST = 8
# What is left after a redaction can join into something new once or twice, never endlessly.
_MAX_PASSES = 8
_PIECE = 8192
# Rules look at one line, or at a name and the ``value`` below it: there a text may not be cut.
_CUT = re.compile(r"\n(?![ \t]{0,40}\\{0,3}[\"']?[vV][aA][lL][uU][eE])")


class InvalidPatternError(FlowdError, ValueError):
    """A secret pattern of the settings is not a regular expression."""


class Redactor:
    """Finds and masks secrets: the built-in kinds, and the patterns a person adds."""

    def __init__(self, extra_patterns: Iterable[str] | Mapping[str, str] = ()) -> None:
        """Take *extra_patterns*, regular expressions, bare or by kind; group 1, if any, is the secret."""
        by_kind = (
            list(extra_patterns.items())
            if isinstance(extra_patterns, Mapping)
            else [("custom", pattern) for pattern in extra_patterns]
        )
        self._extra = [(kind, _compiled(pattern)) for kind, pattern in by_kind]

    def find(self, text: str) -> list[Secret]:
        """Return the secrets in *text*, in order, none overlapping another."""
        found = [*find_private_keys(text), *self._find_extra(text)]
        for start, piece in _pieces(text):
            found.extend(Secret(kind, start + at, start + end) for kind, at, end in _find_in(piece))
        return _merged(found)

    def __call__(self, text: str) -> str:
        """Return *text* with every secret replaced by ``[redacted:kind]``; doing it again changes nothing."""
        if "-" in text and "-----BEGIN " in text:
            text = _masked(text, list(find_private_keys(text)))
        if self._extra:
            return _until_nothing_is_found(text, self.find)
        return _redacted_pieces(text) if len(text) >= _SHORTEST else text

    def _find_extra(self, text: str) -> Iterator[Secret]:
        for kind, pattern in self._extra:
            for match in pattern.finditer(text):
                start, end = match.span(1 if pattern.groups and match[1] is not None else 0)
                if end > start and not text.startswith("[redacted:", start):
                    yield Secret(kind, start, end)


_in_force = Redactor()


def use_patterns(extra_patterns: Iterable[str]) -> None:
    """Have this process's ``redact`` and ``find_secrets`` know *extra_patterns* as well, from now on."""
    global _in_force
    _in_force = Redactor(extra_patterns)


def redact(text: str) -> str:
    """Return *text* with every secret flowd knows replaced by ``[redacted:kind]``."""
    return _in_force(text)


def find_secrets(text: str) -> list[Secret]:
    """Return kind and place of every secret flowd knows in *text*, in order."""
    return _in_force.find(text)


def _find_in(piece: str) -> list[Secret]:
    if len(piece) < _SHORTEST:
        return []
    # Tokens first: where two rules agree on a place, theirs is the kind that says most.
    # Lower case of this one letter is two; every other keeps all positions where they are.
    lowered = piece.replace("\u0130", "I").lower()
    found = [*find_tokens(piece), *find_placed(piece, lowered), *find_named(piece, lowered)]
    return _merged(found) if found else found


def _redacted_pieces(text: str) -> str:
    # Piece by piece, because only those that held a secret are looked at a second time.
    if len(text) <= _PIECE:
        return _until_nothing_is_found(text, _find_in)
    return "".join(_until_nothing_is_found(piece, _find_in) for _, piece in _pieces(text))


def _until_nothing_is_found(text: str, find: Callable[[str], list[Secret]]) -> str:
    for _ in range(_MAX_PASSES):
        secrets = find(text)
        if not secrets:
            break
        text = _masked(text, secrets)
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


def _masked(text: str, secrets: list[Secret]) -> str:
    ends = [0, *(secret.end for secret in secrets)]
    kept = [text[end : secret.start] for end, secret in zip(ends, secrets, strict=False)]
    marks = [f"[redacted:{secret.kind}]" for secret in secrets]
    return "".join(itertools.chain(*zip(kept, marks, strict=True))) + text[ends[-1] :]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidPatternError(
            f"Invalid secret pattern {pattern!r}: {error}", hint="it must be a Python regular expression"
        ) from error
