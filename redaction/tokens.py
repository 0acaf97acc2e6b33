"""Secrets known by their shape: what issuers prefix their tokens with."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from flowd.redaction import shapes
from flowd.redaction.secret import Secret
from flowd.redaction.shapes import Anchor, Shape
from flowd.redaction.values import is_stand_in_token

# Passing over short runs as a whole is twice as fast as trying for a long one at every letter.
_TO_A_RUN = "(?:[{0}]{{0,15}}+[^{0}])*+[{0}]{{16}}"
# No token is without such a run, and most prose is: one look spares it all the rest.
_TO_A_LONG_RUN = re.compile(_TO_A_RUN.format("A-Za-z0-9_+~/%.-"))
# Prose has not even sixteen letters of any kind between two blanks, which is seen twice as fast.
_TO_A_LONG_WORD = re.compile("(?:[^ ]{0,15}+ )*+[^ ]{16}")
_RUN = re.compile(r"[A-Za-z0-9_+/-]{16,}+", re.ASCII)
_INNER_START = re.compile(r"[_/+-](?=[A-Za-z0-9])")
# An escape of JSON or of a URL: its last letters are no part of the token that follows.
_ESCAPE = re.compile(r"(?:[nrt]|u00[0-9a-f]{2})(?=[A-Za-z0-9])|[0-9A-Fa-f]{2}")
_KEY = 3
_ALONE = r"(?<![\w-])(?:{})(?![\w-])"
_MAX_DOTTED_PREFIX = 24
_MAX_REST_OF_PREFIX = 12
_MIN_RUN = 16
_DISCORD = re.compile(shapes.DISCORD, re.ASCII)


def find_tokens(text: str) -> Iterable[Secret]:
    """Return every secret of a known shape in *text*."""
    run = _TO_A_LONG_RUN.match(text) if _TO_A_LONG_WORD.match(text) else None
    return _find(text) if run else ()


def _find(text: str) -> Iterator[Secret]:
    by_start, dotted = _prefixed(), _dotted()
    for run in _RUN.finditer(text):
        start = run.start()
        before = text[start - 1 : start]
        for at in _starts(text, run, before):
            if text[at : at + _KEY] in by_start:
                yield from _match_at(text, at, by_start[text[at : at + _KEY]])
        if before in dotted:
            yield from _before(text, start, dotted[before])
        yield from _whole(text, run)
    for anchor in shapes.ANCHORS:
        if anchor.needle in text:
            yield from _anchored(text, anchor)


def _starts(text: str, run: re.Match[str], before: str) -> list[int]:
    """Return where in *run* a token can start: at its start, after an escape, after a dash or underscore."""
    start, end = run.span()
    starts = [start]
    if before in ("\\", "%") and (escape := _ESCAPE.match(text, start)):
        starts.append(escape.end())
    starts += [match.end() for match in _INNER_START.finditer(text, start, end - 12)]
    return starts


def _match_at(text: str, at: int, candidates: list[tuple[str, Shape]]) -> Iterator[Secret]:
    is_inside_a_name = at > 0 and text[at - 1] in "_-"
    for prefix, shape in candidates:
        if not text.startswith(prefix, at) or (shape.is_weak and is_inside_a_name):
            continue
        match = compiled(shape.tail).match(text, at + len(prefix))
        if match and not is_stand_in_token(match[0]) and (not shape.is_weak or _is_mixed(match[0])):
            yield Secret(shape.kind, at, match.end())
            return


def _before(text: str, start: int, candidates: list[tuple[str, Shape]]) -> Iterator[Secret]:
    """Yield the token whose long run starts at *start*, after a prefix that ends with a dot or the like."""
    for prefix, shape in candidates:
        at = text.rfind(prefix, max(0, start - _MAX_DOTTED_PREFIX), start + _MAX_REST_OF_PREFIX)
        if at < 0 or (at > 0 and text[at - 1].isalnum() and text[at - 2 : at - 1] not in ("\\", "%")):
            continue
        match = compiled(shape.tail).match(text, at + len(prefix))
        if match and match.end() >= start + _MIN_RUN and not is_stand_in_token(match[0]):
            yield Secret(shape.kind, at, match.end())
            return


def _whole(text: str, run: re.Match[str]) -> Iterator[Secret]:
    """Yield the tokens in *run* that have no prefix."""
    start, end = run.span()
    for anchor in shapes.RUNS:
        if anchor.needle in run[0] and (match := compiled(_ALONE.format(anchor.pattern)).search(text, start, end + 2)):
            yield Secret(anchor.kind, *match.span())
    if text[start] in "MNO" and text[end : end + 1] == "." and (match := _DISCORD.match(text, start)):
        yield Secret("discord-token", *match.span())


def _anchored(text: str, anchor: Anchor) -> Iterator[Secret]:
    for match in compiled(anchor.pattern).finditer(text):
        group = match.lastindex or 0
        if not is_stand_in_token(match[group]):
            yield Secret(anchor.kind, *match.span(group))


def _is_mixed(tail: str) -> bool:
    """Return True if *tail* has digits among its letters, as no name has them."""
    digits = sum(map(str.isdigit, tail))
    return digits >= 2 and digits < len(tail)


@lru_cache(maxsize=1)
def _prefixed() -> dict[str, list[tuple[str, Shape]]]:
    """Return the shapes by the first letters of their prefixes."""
    found: dict[str, list[tuple[str, Shape]]] = {}
    for shape in shapes.SHAPES:
        for prefix in shape.prefixes.split():
            starts = [prefix[:_KEY]] if len(prefix) >= _KEY else [prefix + letter for letter in "0123456789abcdef"]
            for start in starts:
                found.setdefault(start, []).append((prefix, shape))
    return found


@lru_cache(maxsize=1)
def _dotted() -> dict[str, list[tuple[str, Shape]]]:
    """Return the shapes whose prefix ends outside their long run, by the last letter of the prefix."""
    found: dict[str, list[tuple[str, Shape]]] = {}
    for shape in shapes.DOTTED:
        for prefix in shape.prefixes.split():
            special = max(prefix.rfind(letter) for letter in "./~")
            found.setdefault(prefix[special], []).append((prefix, shape))
    return found


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled, at its first use: all of them at once would be felt when a hook starts."""
    return re.compile(pattern, re.ASCII)
