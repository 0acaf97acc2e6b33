"""Secrets on command lines, in statements and in pairs of a user and a password."""

import bisect
import re
from collections.abc import Iterator
from functools import lru_cache

from flowd.redaction import values
from flowd.redaction.http import find_cookies
from flowd.redaction.values import Secret

_VALUE = (
    r"(?:\\{0,7}\"(?P<double>[^\"\\\n]{1,256})|\\{0,7}'(?P<single>[^'\n]{1,256})"
    r"|(?P<bare>(?!-)[^\s\"'`|;<>\\]{1,256}))"
)
_MAX_COMMAND = 300
_MAX_PROGRAMS = 8
_MIN_SECRET = 4


_COOKIES = re.compile(r"-b[ \t]{1,4}[\"']?(?=[\w.-]{1,80}=)")
# How an option starts, the programs that take a secret by it, and the option. The first that fits decides.
_OPTIONS = (
    ("-p", r"mysql\w*|mariadb[\w-]*", r"-p"),
    ("-p", r"mongo\w*|sshpass|7z\w*|rar", r"-p[ \t]?"),
    ("-p", r"(?:docker|podman|buildah|skopeo|nerdctl|helm registry|oc|az|cf|rancher) login", r"-p[ \t]+"),
    ("-p", r"twine upload|rdesktop|wpa_cli", r"-p[ \t]+"),
    ("-p", r"openssl", r"-pass(?:in|out)?[ \t]+pass:"),
    ("-a", r"redis-cli|valkey-cli|memcached?|keydb-cli", r"-a[ \t]+"),
    ("-w", r"ldap\w+|bindfs", r"-w[ \t]+"),
    ("-P", r"zip|unzip|zipcloak|ipmi\w+|sqlcmd|bcp|ssh-keygen", r"-P[ \t]+"),
    ("-N", r"ssh-keygen", r"-N[ \t]+"),
    ("-k -K", r"openssl", r"-[kK][ \t]+"),
    ("-U", r"smb\w+|rpcclient|net|mount\.cifs|wmic|winexe", r"-U[ \t]*[\w.\\-]{1,64}%"),
    ("-u -a", r"curl|xh|https?|wget", r"-[ua][ \t]*[\"']?[^\s:\"'$]{0,64}:"),
    ("-u", r"lftp|ncftp\w*", r"-u[ \t]+[\w.@-]{1,64},"),
    ("--", r"curl|wget|xh|https?|git", r"--(?:proxy-)?user[ \t=]{1,3}[\"']?[^\s:\"'$]{0,64}:"),
    ("-b", r"curl|wget|xh|https?", _COOKIES),
    ("-b", r"htpasswd", r"-\w{0,4}b\w{0,4}[ \t]+\S{1,128}[ \t]+[\w.@-]{1,64}[ \t]+"),
)
_OPTION_START = re.compile(r" -(?=[pPawNkKUub]|-(?:proxy-)?user[ =])")
_PIPED = re.compile(
    r"(?:echo|printf)[ \t]++(?:-\w[ \t]++)?"
    r"(?:(?=[\"']?[\w.-]{1,64}:[^\n|]{4,128}\|[^\n]{0,20}chpasswd)[\"']?[\w.-]{1,64}:"
    r"|(?=[^\n|]{1,260}\|[ \t]*+(?:sudo[ \t]+-\w{0,3}S"
    r"|[^\n|]{0,120}--(?:(?:password|token|key)-stdin|with-token)\b|[^\n|]{0,80}\bsecrets?[ \t]+(?:put|set|create|add)\b)))"
    + _VALUE
)
_NET_USE = re.compile(
    r"net use [^\n]{0,80}?\\\\\S{1,120}[ \t]+(?!/)(?P<bare>[^\s\"'/]{4,128})[ \t]+/user", re.IGNORECASE
)
_PGPASS = re.compile(
    r"(?:^|[\s\"'`>+→])[\w.*-]{1,128}:5432:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<bare>[^\s\"'`\\<]{4,128})"
)
_HTTP_BASIC = re.compile(r"http-basic\.\S{1,64}[ \t]+[\w.@-]{1,64}[ \t]+" + _VALUE)
_VAULT_LOGIN = re.compile(r"(?<=vault login)[ \t]+(?:-\S{1,40}[ \t]+){0,3}(?P<bare>[\w.-]{12,256})")
_IDENTIFIED = re.compile(
    r"identified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?by[ \t]+(?:password[ \t]+)?(?=\\{0,7}[\"'])" + _VALUE,
    re.IGNORECASE,
)
_SECURE_STRING = re.compile(r"convertto-securestring[ \t]+(?:-string[ \t]+)?" + _VALUE, re.IGNORECASE)
_AUTH_PAIR = re.compile(
    r"[ \t]{0,4}(?P<sign>[=:][ \t]{0,4})?[(\[][ \t]{0,4}\\{0,7}[\"'][^\"'\n\\]{1,64}\\{0,7}[\"'],[ \t]{0,4}"
    + _VALUE,
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"s?(?:[ \t](?:is|are|was|with|as))?[ \t]?[:=]?[ \t]{1,3}[\"'`]?[\w.@-]{2,64}"
    r"(?:[ \t]/[ \t]|:|/)(?P<bare>[^\s\"'`,;:/|\\<]{4,128})"
)


def find_in_commands(text: str, lowered: str) -> Iterator[Secret]:
    """Yield every secret in *text* found by its position in a command or a pair; *lowered*: in lower case."""
    if " -" in text:
        yield from _find_options(text)
    for pattern in _statements_in(text, lowered):
        yield from _matches(pattern, text)
    at = lowered.find("login")
    while at >= 0:
        at += len("login")
        yield from find_pair(text, at)
        yield from _secret(match) if (match := _VAULT_LOGIN.match(text, at)) else ()
        at = lowered.find("login", at)


def find_pair(text: str, at: int) -> Iterator[Secret]:
    """Yield the password of ``bob / …``, ``bob:…`` or ``("bob", "…")`` after the name that ends at *at*."""
    pair = _PAIR.match(text, at)
    if not pair or not values.has_digit(pair["bare"]):
        pair = _AUTH_PAIR.match(text, at)
        if pair and not pair["sign"]:  # a call, which takes other pairs as well
            value = pair["double"] or pair["single"] or pair["bare"]
            pair = pair if values.is_told_apart(value) and values.is_spoken_password(value) else None
    if pair:
        yield from _secret(pair)


def _statements_in(text: str, lowered: str) -> Iterator[re.Pattern[str]]:
    # One letter is found much faster than a word, and most texts lack it.
    if "|" in text and ("echo " in lowered or "printf " in lowered):
        yield _PIPED
    if ("'" in text or '"' in text) and "identified" in lowered:
        yield _IDENTIFIED
    if "-" in text and "convertto-securestring" in lowered:
        yield _SECURE_STRING
    if "-" in text and "http-basic" in text:
        yield _HTTP_BASIC
    if "\\" in text and "net use" in lowered:
        yield _NET_USE
    if ":" in text and ":5432:" in text:
        yield _PGPASS


def _find_options(text: str) -> Iterator[Secret]:
    programs: list[re.Match[str]] | None = None
    for start in _OPTION_START.finditer(text):
        at = start.end() - 1
        for names, option in _options()[text[at : at + 2]]:
            if not (match := option.match(text, at)):
                continue
            # Programs are looked for once, and only in a text that has such an option.
            programs = [*_program().finditer(text)] if programs is None else programs
            if any(names.fullmatch(name) for name in _programs_before(text, at, programs)):
                yield from find_cookies(text, match.end()) if option is _COOKIES else _secret(match)
                break


def _programs_before(text: str, at: int, programs: list[re.Match[str]]) -> Iterator[str]:
    """Yield the names of the *programs* that lead to the option at *at* on its line, the nearest first."""
    index = bisect.bisect(programs, at, key=re.Match.start)
    for program in reversed(programs[max(0, index - _MAX_PROGRAMS) : index]):
        if at - program.start() > _MAX_COMMAND or "\n" in text[program.end() : at]:
            return
        yield program[1]


@lru_cache(maxsize=1)
def _program() -> re.Pattern[str]:
    names = "|".join(names for _, names, _ in _OPTIONS)
    return re.compile(rf"(?:^|[\s/\"'`$(;|&>→+-])({names})(?=[ \t\"'])", re.MULTILINE)


@lru_cache(maxsize=1)
def _options() -> dict[str, list[tuple[re.Pattern[str], re.Pattern[str]]]]:
    """Return programs and option by the first two characters of the option."""
    # Compiled at the first use: all of them at once would be felt when a hook starts.
    found: dict[str, list[tuple[re.Pattern[str], re.Pattern[str]]]] = {}
    for starts, names, option in _OPTIONS:
        pattern = option if isinstance(option, re.Pattern) else re.compile(option + _VALUE)
        for start in starts.split():
            found.setdefault(start, []).append((re.compile(names), pattern))
    return found


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        yield from _secret(match)


def _secret(match: re.Match[str]) -> Iterator[Secret]:
    groups = match.groupdict()
    name = next(name for name in ("double", "single", "bare") if groups.get(name))
    value = groups[name]
    if len(value) >= _MIN_SECRET and not values.is_stand_in(value) and not value.startswith("-"):
        yield Secret("password", *match.span(name))
