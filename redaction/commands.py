"""Secrets on command lines, in statements and in pairs of a user and a password."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction import values
from flowd.redaction.headers import find_cookies
from flowd.redaction.secret import Secret

_VALUE = r"(?:\\{0,7}\"(?P<double>[^\"\\\n]{1,256})|\\{0,7}'(?P<single>[^'\n]{1,256})|(?P<bare>[^\s\"'`|;<>\\]{1,256}))"
_MAX_COMMAND = 300
_MIN_SECRET = 4


class _Option(NamedTuple):
    """Programs, and the option by which they take a secret."""

    programs: str
    option: str


# The first that fits decides.
_OPTIONS = (
    _Option(r"mysql\w*|mariadb[\w-]*", r"-p"),
    _Option(r"mongo\w*|sshpass|7z\w*|rar", r"-p[ \t]?"),
    _Option(r"(?:docker|podman|buildah|skopeo|nerdctl|helm registry|oc|az|cf|rancher) login", r"-p[ \t]+"),
    _Option(r"twine upload|rdesktop|wpa_cli", r"-p[ \t]+"),
    _Option(r"redis-cli|valkey-cli|memcached?|keydb-cli", r"-a[ \t]+"),
    _Option(r"ldap\w+|bindfs", r"-w[ \t]+"),
    _Option(r"zip|unzip|zipcloak|ipmitool|ipmi\w+|sqlcmd|bcp|ssh-keygen", r"-P[ \t]+"),
    _Option(r"ssh-keygen", r"-N[ \t]+"),
    _Option(r"openssl", r"-(?:k|K)[ \t]+"),
    _Option(r"openssl", r"-pass(?:in|out)?[ \t]+pass:"),
    _Option(r"smb\w+|rpcclient|net|mount\.cifs|wmic|winexe", r"-U[ \t]*[\w.\\-]{1,64}%"),
    _Option(r"curl|xh|https?|wget", r"-(?:u|a)[ \t]*[\"']?[^\s:\"'$]{0,64}:"),
    _Option(r"lftp|ncftp\w*", r"-u[ \t]+[\w.@-]{1,64},"),
    _Option(r"htpasswd", r"-\w{0,4}b\w{0,4}[ \t]+\S{1,128}[ \t]+[\w.@-]{1,64}[ \t]+"),
    _Option(r"xfreerdp|wfreerdp|mstsc", r"/p:"),
)
_OPTION_START = re.compile(r" (?=-[pPawNkKUubc]|--(?:proxy-)?user[ =]|/p:)")
_CURL = re.compile(r"(?:^|[\s/\"'`$(;|&>→+-])(?:curl|wget|xh|https?)[ \t]")
_LONG_LOGIN = re.compile(r"--(?:proxy-)?user[ \t=]{1,3}[\"']?[^\s:\"'$]{0,64}:" + _VALUE)
_COOKIE_OPTION = re.compile(r"-b[ \t]{1,4}[\"']?(?=[\w.-]{1,80}=)")
_PIPED = re.compile(
    r"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?(?:(?=[\"']?[\w.-]{1,64}:[^\n|]{4,128}\|[^\n]{0,20}chpasswd)[\"']?[\w.-]{1,64}:"
    r"|(?=[^\n|]{1,260}\|[ \t]*(?:sudo[ \t]+-\w{0,3}S|[^\n|]{0,120}--(?:(?:password|token|key)-stdin|with-token)\b)))"
    + _VALUE
)
_NET_USE = re.compile(
    r"net use [^\n]{0,80}?\\\\\S{1,120}[ \t]+(?!/)(?P<bare>[^\s\"'/]{4,128})[ \t]+/user", re.IGNORECASE
)
_PGPASS = re.compile(
    r"(?:^|[\s\"'`>+→])[\w.*-]{1,128}:5432:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<bare>[^\s\"'`\\<]{4,128})"
)
_HTTP_BASIC = re.compile(r"http-basic\.\S{1,64}[ \t]+[\w.@-]{1,64}[ \t]+" + _VALUE)
_VAULT_LOGIN = re.compile(r"vault login[ \t]+(?:-\S{1,40}[ \t]+){0,3}(?P<bare>[\w.-]{12,256})")
_IDENTIFIED = re.compile(
    r"identified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?by[ \t]+(?:password[ \t]+)?(?=\\{0,7}[\"'])" + _VALUE, re.IGNORECASE
)
_SECURE_STRING = re.compile(r"convertto-securestring[ \t]+(?:-string[ \t]+)?" + _VALUE, re.IGNORECASE)
_AUTH_PAIR = re.compile(r"auth[ \t]{0,4}[=:][ \t]{0,4}[(\[][ \t]{0,4}\\{0,7}[\"'][^\"'\n\\]{1,64}\\{0,7}[\"'],[ \t]{0,4}" + _VALUE, re.IGNORECASE)
# By a character that each of them has, a text that each of them has, and what it looks like.
_STATEMENTS = {
    "|": (("echo ", _PIPED), ("printf ", _PIPED)),
    "'": (("identified", _IDENTIFIED), ("convertto-securestring", _SECURE_STRING)),
    '"': (("identified", _IDENTIFIED), ("convertto-securestring", _SECURE_STRING)),
    "\\": (("net use", _NET_USE),),
    "(": (("auth=(", _AUTH_PAIR), ("auth = (", _AUTH_PAIR)),
    ":": ((":5432:", _PGPASS),),
    "v": (("vault login", _VAULT_LOGIN),),
    "-": (("http-basic", _HTTP_BASIC),),
}
_PAIR = re.compile(
    r"(?:s|entials?)?(?:[ \t](?:is|are|was|with|as))?[ \t]?[:=]?[ \t]{1,3}[\"'`]?[\w.@-]{2,64}"
    r"(?:[ \t]/[ \t]|:|/)(?P<bare>[^\s\"'`,;:/|\\<]{4,128})"
)
_PIN = re.compile(r"\b(?:pin|PIN|Pin)(?:[ -]?code)?(?:[ ]is|[ ]was)?[ ]{0,2}[:=]?[ ]{1,2}(?P<bare>\d{4,8})\b")


def find_in_commands(text: str, lowered: str) -> Iterator[Secret]:
    """Yield every secret in *text* that its place in a command or a pair tells; *lowered*: in lower case."""
    if " -" in text or "/p:" in text:
        yield from _find_options(text)
    for letter, statements in _STATEMENTS.items():
        if letter in text:
            for needle, pattern in statements:
                if needle in lowered:
                    yield from _matches(pattern, text)
    if ":" in text or "/" in text:
        for name in ("cred", "login"):
            yield from (each for each in _matches_after(_PAIR, name, text, lowered) if _has_digit(text, each))
    if "PIN" in text:
        yield from _matches(_PIN, text)


def _matches_after(pattern: re.Pattern[str], name: str, text: str, lowered: str) -> Iterator[Secret]:
    at = lowered.find(name)
    while at >= 0:
        at += len(name)
        if match := pattern.match(text, at):
            yield from _secret(match)
        at = lowered.find(name, at)


def _find_options(text: str) -> Iterator[Secret]:
    for start in _OPTION_START.finditer(text):
        at = start.end()
        # The command is what leads to the option on its line.
        line = text.rfind("\n", max(0, at - _MAX_COMMAND), at) + 1
        before = text[max(line, at - _MAX_COMMAND) : at]
        if text.startswith("--", at):
            yield from (_secret(match) if (match := _LONG_LOGIN.match(text, at)) else ())
        elif text.startswith("-b", at) and _CURL.search(before) and (cookies := _COOKIE_OPTION.match(text, at)):
            yield from find_cookies(text, cookies.end())
        else:
            yield from _option_value(text, at, before)


def _option_value(text: str, at: int, before: str) -> Iterator[Secret]:
    for program, option in _options():
        # The option is looked at first: that is one place, the program may be anywhere before it.
        if (match := option.match(text, at)) and program.search(before):
            yield from _secret(match)
            return


@lru_cache(maxsize=1)
def _options() -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
    # Compiled at the first use: all of them at once would be felt when a hook starts.
    before = r"(?:^|[\s/\"'`$(;|&>→+-])"
    return [
        (re.compile(f"{before}(?:{each.programs})(?=[ \t\"'])"), re.compile(each.option + _VALUE))
        for each in _OPTIONS
    ]


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[Secret]:
    for match in pattern.finditer(text):
        yield from _secret(match)


def _secret(match: re.Match[str]) -> Iterator[Secret]:
    groups = match.groupdict()
    name = next(name for name in ("double", "single", "bare") if groups.get(name))
    value = groups[name]
    if len(value) >= _MIN_SECRET and not values.is_stand_in(value) and not value.startswith("-"):
        yield Secret("password", *match.span(name))


def _has_digit(text: str, secret: Secret) -> bool:
    return any(map(str.isdigit, text[secret.start : secret.end]))
