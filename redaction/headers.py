"""Secrets in HTTP headers: bearer tokens, digests and cookies."""

import re
from collections.abc import Iterable, Iterator

from flowd.redaction import values
from flowd.redaction.secret import Secret

_BEARER = re.compile(r"[Bb](?:earer|EARER)[ \t]{1,4}(?P<value>[\w.~+/=-]{8,}+)")
_DIGEST = re.compile(r"response=\\{0,7}\"(?P<value>[0-9a-f]{32,64})")
_COOKIES = re.compile(
    r"(?:[Cc]ookie|COOKIE)\\{0,7}[\"']?[ \t]{0,4}[:=,]?[ \t]{0,4}\\{0,7}[\"']?"
    r"(?=[\w.!#$%&*+^`|~-]{1,80}=)"
)
_COOKIE_FLAG = re.compile(r"[ \t]-b[ \t]{1,4}[\"']?(?=[\w.-]{1,80}=)")
_COOKIE = re.compile(r"(?P<name>[\w.!#$%&*+^|~-]{1,80})=(?P<value>[^\s;,\"'\\<>]{0,4096}+)(?:;[ ]?|\Z)?")
_MAX_COOKIES = 60
_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"))
_SESSION = re.compile(r"sess|sid|auth|token|login|remember|jwt|csrf|xsrf|user|id", re.IGNORECASE)
_BARE_SESSION = re.compile(
    r"\b(?:JSESSIONID|PHPSESSID|ASPSESSIONID\w{0,10}|ASP\.NET_SessionId|connect\.sid|_gitlab_session|laravel_session"
    r"|_session_id)=(?P<value>[\w.%+/=!-]{12,1024}+)"
)
_MIN_COOKIE = 12


def find_in_headers(text: str, lowered: str) -> Iterable[Secret]:
    """Return every secret in *text* that its place in a header tells; *lowered* is *text* in lower case."""
    found: list[Secret] = []
    if "bearer" in lowered:
        found += _random_matches(_BEARER, "bearer-token", text)
    if "response=" in text and "digest" in lowered:
        found += _random_matches(_DIGEST, "secret", text)
    if "cookie" in lowered or " -b " in text:
        found += _find_cookies(text)
    if "SESS" in text or "sess" in text or ".sid" in text:
        found += _random_matches(_BARE_SESSION, "cookie", text)
    return found


def _random_matches(pattern: re.Pattern[str], kind: str, text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        if values.is_random(match["value"]) and not values.is_stand_in(match["value"]):
            yield Secret(kind, *match.span("value"))


def _find_cookies(text: str) -> Iterator[Secret]:
    for pattern in (_COOKIES, _COOKIE_FLAG):
        for header in pattern.finditer(text):
            yield from _cookies(text, header.end())


def _cookies(text: str, start: int) -> Iterator[Secret]:
    for _ in range(_MAX_COOKIES):
        cookie = _COOKIE.match(text, start)
        if not cookie:
            return
        if _is_secret(cookie["name"], cookie["value"]):
            yield Secret("cookie", *cookie.span("value"))
        start = cookie.end()


def _is_secret(name: str, value: str) -> bool:
    if name.lower() in _ATTRIBUTES or values.is_stand_in(value) or not values.is_random(value):
        return False
    return len(value) >= _MIN_COOKIE or bool(_SESSION.search(name))
