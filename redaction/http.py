"""Secrets in HTTP headers and in URLs."""

import re
from collections.abc import Iterable, Iterator

from flowd.redaction import values
from flowd.redaction.values import Secret

_BEARER = re.compile(r"[Bb](?:earer|EARER)[ \t]{1,4}(?P<value>[\w.~+/=-]{8,}+)")
_DIGEST = re.compile(
    r"[^\n]{0,16}digest[^\n]{0,400}?response=\\{0,7}\"(?P<value>[0-9a-f]{32,64})", re.IGNORECASE
)
_COOKIES = re.compile(
    r"(?:[Cc]ookie|COOKIE)\\{0,7}[\"']?[ \t]{0,4}[:=,]?[ \t]{0,4}\\{0,7}[\"']?"
    r"(?=[\w.!#$%&*+^`|~-]{1,80}=)"
)
_COOKIE = re.compile(r"(?P<name>[\w.!#$%&*+^|~-]{1,80})=(?P<value>[^\s;,\"'\\<>]{0,4096}+)(?:;[ ]?|\Z)?")
_MAX_COOKIES = 60
_ATTRIBUTES = frozenset(
    ("path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment")
)
_SESSION = re.compile(r"sess|sid|auth|token|login|remember|jwt|csrf|xsrf|user|id", re.IGNORECASE)
_BARE_SESSION = re.compile(
    r"(?:JSESSIONID|PHPSESSID|ASPSESSIONID\w{0,10}|ASP\.NET_SessionId)=(?P<value>[\w.%+/=!-]{12,1024}+)"
)
_MIN_COOKIE = 12
_PASSWORD = re.compile(r"://[^\s/:@\"'<>]{0,128}:(?P<secret>[^\s/\"'<>]{1,256})@(?=[\w.\[-])")
_TOKEN = re.compile(r"://(?P<secret>[\w~.%-]{16,512})(?::(?:x-oauth-basic|x)?)?@(?=[\w.\[-])")
_ORACLE = re.compile(r":thin:[^\s/@\"']{1,64}/(?P<secret>[^\s@\"']{1,128})@")
_PARAMETER = re.compile(
    r"[?&](?:amp;)?(?P<name>[\w.-]{1,40})=(?P<secret>[\w.~%+/=!:@$-]{16,2048}+)", re.ASCII
)
_SIGNATURE = re.compile(r"(?:, ?|X-(?:Amz|Goog)-)Signature=(?P<secret>[\w+/=%-]{16,512}+)")
_SECRET_PARAMETERS = (
    *(
        "key",
        "sig",
        "signature",
        "code",
        "auth",
        "credential",
        "assertion",
        "ticket",
        "jwt",
        "otp",
        "sid",
        "hmac",
    ),
    *("token", "secret"),
)
_EXAMPLE_PASSWORDS = frozenset(
    ("guest", "password", "pass", "user", "postgres", "root", "admin", "test", "secret")
)


def find_in_headers(text: str, lowered: str) -> Iterable[Secret]:
    """Return every secret in *text* found by its position in a header; *lowered* is *text* in lower case."""
    has_bearer, has_cookie = "bearer" in lowered, "cookie" in lowered
    if has_bearer or has_cookie or "SESSI" in text:
        return _find_in_header(text, has_bearer=has_bearer, has_cookie=has_cookie)
    return ()


def _find_in_header(text: str, *, has_bearer: bool, has_cookie: bool) -> Iterator[Secret]:
    if has_bearer:
        yield from _random_matches(_BEARER, "bearer-token", text)
    if "SESSI" in text:
        yield from _random_matches(_BARE_SESSION, "cookie", text)
    if has_cookie:
        done = 0
        for header in _COOKIES.finditer(text):
            for cookie in find_cookies(text, max(done, header.end())):
                done = cookie.end
                yield cookie


def find_digest(text: str, at: int) -> Iterator[Secret]:
    """Yield the response of a digest in the ``Authorization`` header whose name ends at *at*."""
    if match := _DIGEST.match(text, at):
        yield Secret("secret", *match.span("value"))


def _random_matches(pattern: re.Pattern[str], kind: str, text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        if values.is_random(match["value"]) and not values.is_stand_in(match["value"]):
            yield Secret(kind, *match.span("value"))


def find_cookies(text: str, start: int) -> Iterator[Secret]:
    """Yield the values of the secret cookies in the list that starts at *start*."""
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


def find_in_urls(text: str) -> Iterable[Secret]:
    """Return every secret in *text* found by its position in a URL."""
    # One letter is found much faster than two or three, and a plain function costs less than a generator.
    if "@" in text or ("=" in text and ("?" in text or "&" in text or "Signature=" in text)):
        return _find_in_url(text)
    return ()


def _find_in_url(text: str) -> Iterator[Secret]:
    if "@" in text and "://" in text:
        yield from _passwords(text)
        yield from _tokens(text)
    if "@" in text and ":thin:" in text:
        yield from _matches(_ORACLE, text)
    if "?" in text or "&" in text:
        yield from _parameters(text)
    if "Signature=" in text:
        yield from _matches(_SIGNATURE, text)


def _passwords(text: str) -> Iterator[Secret]:
    for match in _PASSWORD.finditer(text):
        value = match["secret"]
        if value == "x-oauth-basic" or value.lower() in _EXAMPLE_PASSWORDS or values.is_stand_in(value):
            continue
        yield Secret("url-password", *match.span("secret"))


def _tokens(text: str) -> Iterator[Secret]:
    for match in _TOKEN.finditer(text):
        if values.is_random(match["secret"]) and not values.is_stand_in(match["secret"]):
            yield Secret("url-password", *match.span("secret"))


def _parameters(text: str) -> Iterator[Secret]:
    for match in _PARAMETER.finditer(text):
        if not match["name"].lower().endswith(_SECRET_PARAMETERS):
            continue
        if values.is_random(match["secret"]) and not values.is_stand_in(match["secret"]):
            yield Secret("url-token", *match.span("secret"))


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        if not values.is_stand_in(match["secret"]):
            yield Secret("url-password", *match.span("secret"))
