"""Secrets on command lines, in statements and in pairs of a user and a password."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction import values
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
_OPTION_START = re.compile(r"[ \t](?=-[pPawNkKUubc]|-\w{0,4}b|-pass|/p:)")
_LONG_LOGIN = re.compile(r"[ \t](?:--user|--proxy-user)[ \t=]{1,3}[\"']?[^\s:\"'$]{0,64}:" + _VALUE)
_STATEMENTS = (
    ("identified", re.compile(r"identified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?by[ \t]+(?:password[ \t]+)?(?=\\{0,7}[\"'])" + _VALUE, re.I)),
    ("chpasswd", re.compile(r"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?[\"']?[\w.-]{1,64}:(?P<bare>[^\s\"'|]{4,128})[^\n|]{0,40}\|[^\n]{0,20}chpasswd")),
    ("sudo", re.compile(r"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?" + _VALUE + r"[\"']?[ \t]*\|[ \t]*sudo[ \t]+-\w{0,3}S")),
    ("-stdin", re.compile(r"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?" + _VALUE + r"[\"']?[ \t]*\|[^\n|]{0,120}--(?:password|token|key)-stdin\b")),
    ("with-token", re.compile(r"(?:echo|printf)[ \t]+(?:-\w[ \t]+)?" + _VALUE + r"[\"']?[ \t]*\|[^\n|]{0,120}--with-token\b")),
    ("securestring", re.compile(r"convertto-securestring[ \t]+(?:-string[ \t]+)?" + _VALUE, re.I)),
    ("net use", re.compile(r"net use [^\n]{0,80}?\\\\[^\s]{1,120}[ \t]+(?!/)(?P<bare>[^\s\"'/]{4,128})[ \t]+/user", re.I)),
    ("vault login", re.compile(r"vault login[ \t]+(?:-\S{1,40}[ \t]+){0,3}(?P<bare>[\w.-]{12,256})")),
    ("http-basic", re.compile(r"http-basic\.\S{1,64}[ \t]+[\w.@-]{1,64}[ \t]+" + _VALUE)),
    ("auth", re.compile(r"auth[ \t]{0,4}[=:][ \t]{0,4}[(\[][ \t]{0,4}\\{0,7}[\"'][^\"'\n\\]{1,64}\\{0,7}[\"'],[ \t]{0,4}" + _VALUE, re.I)),
    ("5432:", re.compile(r"(?:^|[\s\"'`>+→])[\w.*-]{1,128}:5432:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<bare>[^\s\"'`\\<]{4,128})")),
    ("6432:", re.compile(r"(?:^|[\s\"'`>+→])[\w.*-]{1,128}:6432:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<bare>[^\s\"'`\\<]{4,128})")),
)  # fmt: skip
_PAIR = re.compile(
    r"\b(?:creds?|credentials?|login|log[ -]in)(?:[ \t](?:is|are|was|with|as))?[ \t]?[:=]?[ \t]{1,3}[\"'`]?[\w.@-]{2,64}"
    r"(?:[ \t]/[ \t]|:|/)(?P<bare>[^\s\"'`,;:/|\\<]{4,128})",
    re.IGNORECASE,
)
_PIN = re.compile(r"\bpin(?:[ -]?code)?(?:[ \t]is|[ \t]was)?[ \t]{0,2}[:=]?[ \t]{1,2}(?P<bare>\d{4,8})\b", re.IGNORECASE)


def find_in_commands(text: str, lowered: str) -> Iterable[Secret]:
    """Return every secret in *text* that its place in a command or a pair tells; *lowered*: in lower case."""
    found: list[Secret] = []
    if " -" in text or " /p:" in text:
        found += _find_options(text)
        if "--user" in text or "--proxy-user" in text:
            found += _matches(_LONG_LOGIN, text)
    for needle, pattern in _STATEMENTS:
        if needle in lowered:
            found += _matches(pattern, text)
    if "cred" in lowered or "login" in lowered or "log in" in lowered:
        found += (secret for secret in _matches(_PAIR, text) if _is_telling(text, secret))
    if "pin" in lowered:
        found += _matches(_PIN, text)
    return found


def _find_options(text: str) -> Iterator[Secret]:
    for start in _OPTION_START.finditer(text):
        # The command is what leads to the option on its line.
        line = text.rfind("\n", max(0, start.end() - _MAX_COMMAND), start.end()) + 1
        before = text[max(line, start.end() - _MAX_COMMAND) : start.end()]
        for program, option in _options():
            if program.search(before) and (match := option.match(text, start.end())):
                yield from _secret(match)
                break


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


def _is_telling(text: str, secret: Secret) -> bool:
    return any(map(str.isdigit, text[secret.start : secret.end]))
