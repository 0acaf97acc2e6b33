"""Secrets known by their name: ``password: …``, ``API_KEY=…``, ``the token is …``, in any notation."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction.tokens import Secret
from flowd.redaction.values import (
    is_code,
    is_password,
    is_placeholder,
    is_spoken_password,
    looks_random,
)

# All of these are written for lower-case text. Quantifiers give nothing back, so a failure costs one look.
# The words that name a secret, each with the longer one that begins like it, if any.
_WORDS = (
    ("pass", "pass"),
    ("token", "token"),
    ("key", "key"),
    ("secret", "secret"),
    ("auth", "authorization"),
    ("pw", "pwd"),
    ("credential", "credential"),
)
_KEY_OWNER = re.compile(
    r"(?:api|access|private|signing|encryption|account|auth|master|storage|shared|service|subscription|admin"
    r"|secret|client|deploy|license|webhook)[_\-. ]?$"
)
_REST_OF_NAME = r"(?P<rest>[a-z0-9_-]{0,40}+)"
_CLOSERS = r"(?:\\{0,3}[\"'`]|[\])*]){0,4}+[ \t]{0,8}+"
_TYPE = (
    r"(?::[ \t]{0,4}(?:str|string|bytes|secretstr|optional\[str\]|str \| none|&str|&'static str|any)"
    r"[ \t]{0,4}(?==))?+"
)
_VALUE_KEY = r"\\{0,3}[\"']?value\\{0,3}[\"']?[ \t]{0,4}[:=]"
_JOINT = (
    r"(?:(?P<sign>=>|:=|={1,3}|!=|:(?!:)|→)"
    r"|(?P<next>,?[ \t]{0,4}\r?\n?[ \t]{0,40}" + _VALUE_KEY + r"|,[ \t]?(?=[\"'])|\((?=[\"']))"
    r"|(?P<tag>>)"
    r"|(?P<spoken>(?:is|was|to|as|of|will be|changed to)"
    r"(?:[ \t]now|[ \t]set[ \t]to)?[ \t]{0,2}[:=]?(?=[ \t]))"
    r"|(?P<cell>\|)"
    # Nothing but a blank joins them: then what follows must at least hold a digit.
    r"|(?P<blank>(?<=[ \t])(?=[^\s=:0-9]{0,40}+[0-9])))"
)
_OPENERS = r"[*_]{0,2}+[ \t]{0,8}+(?:(?:basic|bearer|token|digest|apikey)[ \t]{1,4}(?=\S))?"

_QUOTE = re.compile(r"\\{0,3}[\"'`]")
_MAX_VALUE = 4096
_BARE = re.compile(r"[^\s\"'`,;<>&|\\)\]}]{1,4096}+")
_TAGGED = re.compile(r"(?:<!\[CDATA\[)?([^<>\]\r\n]{1,4096}+)(?=\]\]>|</)")
_REST_TELLS_NO_SECRET = re.compile(
    r"(?:^|[_-])(?:id|ids|name|names|type|types|path|file|files|url|uri|endpoint|count|limit|limits|expiry|expires"
    r"|expiration|ttl|length|len|size|field|env|var|arn|ref|version|prefix|policy|policies|usage|budget|hash|hint"
    r"|label|regex|pattern|rules?|manager|store|provider|reset|strength|format|class|index|at|in)$"
    r"|^(?:iz|is[ei]|ar|ion|less|ly|name)"
)
_OWNER_TELLS_NO_SECRET = re.compile(
    r"(?:next|page|continuation|sync|cursor|max|min|num|input|output|total|public)[_-]?$"
)
_SPOKEN_ON = re.compile(r"[ \t]+[a-z]")
_OWNER_LENGTH = 24
_PASSWORD_ENDINGS = ("word", "wort", "wd", "phrase", "code")
# What only stands beside the name must look like a secret by itself.
_LOOSE_JOINTS = frozenset({"blank", "cell", "next"})


class _Candidate(NamedTuple):
    """How a name is joined to what follows, and where that starts."""

    is_password: bool
    joint: str
    value_at: int


def find_named(text: str, lowered: str) -> Iterable[Secret]:
    """Return every secret in *text* that is told by the name before it; *lowered* is *text* in lower case."""
    # Spelled out: a loop over the words would cost twice what the looks do.
    if (
        "pass" in lowered
        or "token" in lowered
        or "key" in lowered
        or "secret" in lowered
        or "auth" in lowered
        or "pw" in lowered
        or "credential" in lowered
    ):
        return _named(text, lowered)
    return ()


def _named(text: str, lowered: str) -> Iterator[Secret]:
    after = _after_the_word()
    done = passed = 0
    for start, word in _places(lowered):
        if start < passed:  # within the word before
            continue
        passed = start + len(word)
        joined = after.match(lowered, passed) if start >= done else None
        if joined and (secret := _judged(text, lowered, word, joined)):
            done = secret.end
            yield secret


def _places(lowered: str) -> list[tuple[int, str]]:
    """Return where the words stand, in order, and which."""
    places: list[tuple[int, str]] = []
    # One word after the other: a pattern would try for all of them at every letter.
    for short, long in _WORDS:
        start = lowered.find(short)
        while start >= 0:
            word = long if lowered.startswith(long, start) else short
            places.append((start, word))
            start = lowered.find(short, start + len(word))
    return sorted(places)


def _judged(text: str, lowered: str, word: str, joined: re.Match[str]) -> Secret | None:
    start = joined.start() - len(word)
    owner = lowered[max(0, start - _OWNER_LENGTH) : start]
    kind = _kind(word, joined, owner)
    if not kind:
        return None
    span = _value_span(text, _Candidate(kind == "password", joined.lastgroup or "", joined.end()))
    return Secret(kind, *span) if span else None


def _kind(word: str, joined: re.Match[str], owner: str) -> str:
    """Return which kind of secret the name is for, or ``""`` when it is for none."""
    if _REST_TELLS_NO_SECRET.search(joined["rest"]) or _OWNER_TELLS_NO_SECRET.search(owner):
        return ""
    if _is_inside_a_mark(owner) or (joined.lastgroup == "tag" and "<" not in owner):
        return ""
    if word == "key":
        return "secret" if _KEY_OWNER.search(owner) else ""
    if word in ("pass", "pw", "auth"):
        return _kind_of_a_short_word(word, joined, owner)
    return "password" if word == "pwd" else "secret"


def _kind_of_a_short_word(word: str, joined: re.Match[str], owner: str) -> str:
    rest = joined["rest"]
    if word == "pass" and (rest.startswith(_PASSWORD_ENDINGS) or (not rest and owner[-1:] in ("_", "-"))):
        return "password"
    if rest or owner[-1:].isalnum() or joined.lastgroup != "sign":
        return ""
    # ``PASS: TestName`` is a verdict; ``pass=`` and ``"pass":`` are none, and still weak names.
    is_a_verdict = word == "pass" and joined[0].startswith(":")
    return "" if is_a_verdict else "password" if word == "pw" else "secret"


def _is_inside_a_mark(owner: str) -> bool:
    mark = owner.rfind("[redacted:")
    return mark >= 0 and "]" not in owner[mark:]


def _value_span(text: str, candidate: _Candidate) -> tuple[int, int] | None:
    start = candidate.value_at
    if candidate.joint == "tag":
        tagged = _TAGGED.match(text, start)
        return tagged.span(1) if tagged and _is_secret(tagged[1], candidate, quoted=True) else None
    if quote := _QUOTE.match(text, start):
        end = _end_of_quotation(text, quote)
        return (quote.end(), end) if _is_secret(text[quote.end() : end], candidate, quoted=True) else None
    bare = _BARE.match(text, start)
    if not bare or not _is_secret(bare[0], candidate, quoted=False):
        return None
    return None if is_code(bare[0].rstrip(".:?!")) or _reads_on(text, bare, candidate) else bare.span()


def _end_of_quotation(text: str, quote: re.Match[str]) -> int:
    """Return where the quotation ends: at its closing quote, or with its line when that is missing."""
    limit = quote.end() + _MAX_VALUE
    line_end = text.find("\n", quote.end(), limit)
    limit = limit if line_end < 0 else line_end
    closing = text.find(quote[0], quote.end(), limit)
    return min(limit, len(text)) if closing < 0 else closing


def _is_secret(value: str, candidate: _Candidate, *, quoted: bool) -> bool:
    if not candidate.is_password or candidate.joint in _LOOSE_JOINTS:
        plausible = looks_random(value)
    elif candidate.joint == "spoken" and not quoted:
        plausible = is_spoken_password(value)
    else:
        plausible = is_password(value, quoted=quoted)
    return plausible and not is_placeholder(value)


def _reads_on(text: str, bare: re.Match[str], candidate: _Candidate) -> bool:
    """Tell whether an unquoted plain word is followed by another: a sentence, not a value."""
    return candidate.joint == "sign" and bare[0].isalpha() and bool(_SPOKEN_ON.match(text, bare.end()))


@lru_cache(maxsize=1)
def _after_the_word() -> re.Pattern[str]:
    return re.compile(_REST_OF_NAME + _CLOSERS + _TYPE + _JOINT + _OPENERS, re.ASCII)
