"""Secrets known by where they stand: key blocks, URLs, headers and command lines."""

import itertools
import re
from collections.abc import Iterable, Iterator

from flowd.redaction.tokens import Secret
from flowd.redaction.values import is_placeholder, looks_random

_MAX_KEY = 20_000
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = re.compile(r"(?:(?:\s|\\[nrt]|[\"'+,>#|])*[A-Za-z0-9+/=]{16,})*")
_URL_PASSWORD = re.compile(r"://[^\s/:@\"'<>]{0,128}:(?P<password>[^\s/\"'<>]{1,256})@(?=[\w.\[-])")
_URL_TOKEN = re.compile(r"://(?P<password>[\w~.-]{20,256})@(?=[\w.\[-])")
_BEARER = re.compile(r"[Bb](?:earer|EARER)[ \t]{1,4}(?P<value>[\w.~+/=-]{8,})")
_LOGIN = re.compile(
    r"(?:[ \t](?:-u|--user|--proxy-user)[ \t=]{1,3}[\"']?[^\s:\"']{1,64}:"
    r"|sshpass[ \t]{1,4}-p[ \t]{0,4}[\"']?)"
    r"(?P<password>[^\s\"']{4,128})"
)


def find_placed(text: str, lowered: str) -> Iterable[Secret]:
    """Return every secret in *text* that is told by its surroundings; *lowered* is *text* in lower case."""
    # One letter is found much faster than two or three.
    if (
        (":" in text and "://" in text)
        or ("-" in text and ("-u" in text or "sshpass" in text))
        or "bearer" in lowered
    ):
        return itertools.chain(_url_passwords(text), _bearers(text), _logins(text))
    return ()


def find_private_keys(text: str) -> Iterator[Secret]:
    """Yield every private key block in *text*, whole or cut off."""
    ends = _END.finditer(text)
    end = next(ends, None)
    position = 0
    while begin := _BEGIN.search(text, position):
        while end and end.start() < begin.end():
            end = next(ends, None)
        position = _end_of_block(text, begin.end(), end)
        yield Secret("private-key", begin.start(), position)


def _end_of_block(text: str, start: int, end: re.Match[str] | None) -> int:
    # An end far away is another block's: one cut off in the middle must not swallow what follows it.
    if end and end.start() - start <= _MAX_KEY and not _BEGIN.search(text, start, end.start()):
        return end.end()
    lines = _KEY_LINES.match(text, start)
    return lines.end() if lines else start


def _url_passwords(text: str) -> Iterator[Secret]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_placeholder(match["password"]):
            yield Secret("url-password", *match.span("password"))
    for match in _URL_TOKEN.finditer(text):
        if looks_random(match["password"]) and not is_placeholder(match["password"]):
            yield Secret("url-password", *match.span("password"))


def _bearers(text: str) -> Iterator[Secret]:
    for match in _BEARER.finditer(text):
        if looks_random(match["value"]) and not is_placeholder(match["value"]):
            yield Secret("bearer-token", *match.span("value"))


def _logins(text: str) -> Iterator[Secret]:
    for match in _LOGIN.finditer(text):
        if not is_placeholder(match["password"]):
            yield Secret("password", *match.span("password"))
