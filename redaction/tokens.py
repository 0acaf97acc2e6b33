"""Secrets known by their shape: what issuers prefix their tokens with."""

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from flowd.redaction import issuers
from flowd.redaction.issuers import Shape
from flowd.redaction.values import Secret, is_stand_in_token

# Passing over short runs as a whole is twice as fast as trying for a long one at every letter.
_TO_A_RUN = "(?:[{0}]{{0,15}}+[^{0}])*+[{0}]{{16}}"
# No token is without such a run, and most prose is: one look spares it all the rest.
_TO_A_LONG_RUN = re.compile(_TO_A_RUN.format("A-Za-z0-9_+~/%.-"))
# Prose has not even sixteen letters of any kind between two blanks, which is seen twice as fast.
_TO_A_LONG_WORD = re.compile("(?:[^ ]{0,15}+ )*+[^ ]{16}")
_TO_NEXT_RUN = re.compile("(?:[{0}]{{0,15}}+[^{0}])*+([{0}]{{16,}}+)".format("A-Za-z0-9_+/-"))
_SPECIAL = frozenset(".~|:!$")
# An escape of JSON or of a URL: its last letters are no part of the token that follows.
_ESCAPE = re.compile(r"(?:[nrt]|u00[0-9a-f]{2})(?=[A-Za-z0-9])|[0-9A-Fa-f]{2}")
_HASH_START = re.compile(r"\$(?:2[abxy]|[156y]|apr1|argon2\w{1,2}|\d{3,9})\$")
_KEY = 3
_ALONE = r"(?<![\w-])(?:{})(?![\w-])"
_MAX_DOTTED_PREFIX = 12
_MAX_HEAD = 40
_MAX_MIXED = 64


class Anchor(NamedTuple):
    """Tokens that are found by a string before or inside them; group 1, if any, is the secret."""

    kind: str
    needle: str
    pattern: str


class Preceded(NamedTuple):
    """Tokens that consist of a *head*, which ends with the character *last*, and a long run, the *tail*."""

    kind: str
    last: str
    head: str
    tail: str


_PAD = "(?:=|%3D){0,2}"

ANCHORS = (
    Anchor("azure-secret", "Q~", r"(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}"),
    Anchor("okta-token", "SSWS", r"SSWS[ :]{1,3}(00[\w-]{38,42})"),
    Anchor("private-key", "kty", r"\"d\\{0,7}\"[ ]?:[ ]?\\{0,7}\"([\w-]{32,}+)"),
    Anchor("private-key", "RSAKeyValue", r"<D>([A-Za-z0-9+/=]{40,}+)</D>"),
)
WEBHOOKS = (
    Anchor(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,}+)",
    ),
    Anchor("discord-webhook", "/api/webhooks/", r"/api/webhooks/(\d{5,25}/[\w-]{40,}+)"),
    Anchor("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/([\w@/-]{60,}+)"),
)
# Hashes of passwords, all with a dollar sign.
HASHES = (
    Anchor("password-hash", "$2", r"\$2[abxy]\$\d\d\$[\w./]{53}"),
    Anchor("password-hash", "$6$", r"\$6\$(?:rounds=\d{1,9}\$)?[\w./]{0,16}\$[\w./]{80,90}"),
    Anchor("password-hash", "$5$", r"\$5\$(?:rounds=\d{1,9}\$)?[\w./]{0,16}\$[\w./]{40,50}"),
    Anchor("password-hash", "$y$", r"\$y\$[\w./]{1,12}\$[\w./]{1,86}\$[\w./]{43}"),
    Anchor("password-hash", "$1$", r"\$1\$[\w./]{1,8}\$[\w./]{22}"),
    Anchor("password-hash", "$apr1$", r"\$apr1\$[\w./]{1,8}\$[\w./]{22}"),
    Anchor(
        "password-hash",
        "$argon2",
        r"\$argon2\w{1,2}\$(?:v=\d{1,3}\$)?[\w=,]{5,40}\$[\w+/]{8,64}\$[\w+/]{20,128}",
    ),
    Anchor("password-hash", "pbkdf2", r"pbkdf2\w{0,12}\$\d{3,9}\$[\w./+=]{4,64}\$[\w./+=]{20,128}"),
)
# Tokens whose long run follows a part that ends with a special character: that character, the part, the run.
PRECEDED = (
    Preceded("telegram-token", ":", r"(?<!\d)\d{8,10}:", r"AA[\w-]{32,}"),
    Preceded("rancher-token", ":", r"token-[a-z0-9]{5}:", r"[a-z0-9]{54}"),
    Preceded("astra-token", ":", r"AstraCS:", r"[A-Za-z0-9]{20,}(?::[0-9a-f]{20,})?"),
    Preceded("facebook-token", "|", r"(?<!\d)\d{15,16}\|", r"[\w-]{27,40}"),
    Preceded("salesforce-token", "!", r"00[A-Za-z0-9]{13,16}!", r"[\w.]{80,120}"),
    Preceded("terraform-token", ".", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,}"),
    Preceded(
        "doppler-token", ".", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,20}\.)?", r"[A-Za-z0-9]{40,}"
    ),
    Preceded("snyk-token", ".", r"snyk_[su]at\.\w{4,16}\.", r"[\w-]{40,}"),
    Preceded("paypal-token", "$", r"access_token\$(?:production|sandbox)\$", r"[a-z0-9]{16}\$[0-9a-f]{32}"),
)
# Tokens without a prefix: a run of letters, digits, dashes and underscores that is one as a whole.
RUNS = (
    Anchor("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}"),
    Anchor("mailgun-key", "-", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    Anchor("azure-key", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    Anchor("azure-key", "ACDb", rf"[A-Za-z0-9+/]{{76}}ACDb[A-Za-z0-9+/]{{4}}{_PAD}"),
    Anchor("line-token", "/w1cDnyilFU", r"[A-Za-z0-9+/]{120,180}/w1cDnyilFU="),
    Anchor("azure-key", "AzFu", rf"[\w-]{{44}}AzFu[\w-]{{4}}{_PAD}"),
    Anchor("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
)
MIN_RUN_TOKEN = 35
DISCORD = r"[MNO][A-Za-z0-9_-]{22,27}\.[\w-]{6}\.[\w-]{27,45}"


def find_tokens(text: str) -> Iterable[Secret]:
    """Return every secret of a known shape in *text*."""
    if not _TO_A_LONG_WORD.match(text) or not _TO_A_LONG_RUN.match(text):
        return ()
    return itertools.chain(_find_runs(text), _find_anchored(text))


def _find_runs(text: str) -> Iterator[Secret]:
    by_start, inner = _prefixed(), _inner_starts()
    run = _TO_NEXT_RUN.match(text)
    done = 0
    while run:
        start, end = run.span(1)
        starts = [start] if text[start : start + _KEY] in by_start else []
        starts += [match.start() + 1 for match in inner.finditer(text, start, end)]
        if text[start - 1 : start] in "\\%" and (escape := _ESCAPE.match(text, start)):
            starts.append(escape.end())
        for at in starts:
            # What a token has consumed, or something that only looks like one, is not looked at again.
            if at >= done and (token := _token_at(text, at)):
                done = token.end
                if not is_stand_in_token(text[at:done]):
                    yield token
        if text[start - 1 : start] in _SPECIAL:
            yield from _after_special(text, start)
        if end - start >= MIN_RUN_TOKEN or text[end : end + 1] == ".":
            yield from _whole(text, start, end)
        run = _TO_NEXT_RUN.match(text, end)


def _find_anchored(text: str) -> Iterator[Secret]:
    for anchor in ANCHORS:
        if anchor.needle in text:  # here, because a call would cost more than the look
            yield from _anchored(text, anchor)
    if "hook" in text:
        for anchor in WEBHOOKS:
            yield from _anchored(text, anchor)
    if "$" in text and _HASH_START.search(text):
        for anchor in HASHES:
            yield from _anchored(text, anchor)


def _after_special(text: str, start: int) -> Iterator[Secret]:
    """Yield the token of the run at *start*, when the character before it belongs to the token."""
    before = text[start - 1]
    if before in ".~" and text.endswith(_dotted_heads(), max(0, start - _MAX_DOTTED_PREFIX), start):
        yield from _before(text, start)
    for shape in PRECEDED:
        # The tail first: it fails at once where it does not fit, and the head has to be searched for.
        if shape.last != before or not (tail := compiled(shape.tail).match(text, start)):
            continue
        head = compiled(shape.head + r"\Z").search(text, max(0, start - _MAX_HEAD), start)
        if head and not is_stand_in_token(tail[0]):
            yield Secret(shape.kind, head.start(), tail.end())


def _token_at(text: str, at: int) -> Secret | None:
    is_inside_a_name = at > 0 and text[at - 1] in "_-"
    for prefix, shape in _prefixed().get(text[at : at + _KEY], ()):
        if not text.startswith(prefix, at) or (shape.is_weak and is_inside_a_name):
            continue
        match = compiled(shape.tail).match(text, at + len(prefix))
        if match and (not shape.is_weak or _is_mixed(match[0])):
            return Secret(shape.kind, at, match.end())
    return None


def _before(text: str, start: int) -> Iterator[Secret]:
    """Yield the token whose long run starts at *start*, after a prefix that ends with a dot or a tilde."""
    for head, prefix, shape in _dotted():
        at = start - len(head)
        if at < 0 or not text.startswith(prefix, at) or _is_inside_a_word(text, at):
            continue
        match = compiled(shape.tail).match(text, at + len(prefix))
        if match and not is_stand_in_token(match[0]):
            yield Secret(shape.kind, at, match.end())
            return


def _is_inside_a_word(text: str, at: int) -> bool:
    return at > 0 and text[at - 1].isalnum() and text[max(0, at - 2)] not in "\\%"


def _whole(text: str, start: int, end: int) -> Iterator[Secret]:
    """Yield the tokens in the run from *start* to *end* that have no prefix."""
    run = text[start:end].lstrip("+/-")
    start = end - len(run)
    for anchor in RUNS:
        if anchor.needle in run and (
            match := compiled(_ALONE.format(anchor.pattern)).search(text, start, end + 6)
        ):
            yield Secret(anchor.kind, *match.span())
    if run[:1] in ("M", "N", "O") and (match := compiled(DISCORD).match(text, start)):
        yield Secret("discord-token", *match.span())


def _anchored(text: str, anchor: Anchor) -> Iterator[Secret]:
    if anchor.needle not in text:
        return
    for match in compiled(anchor.pattern).finditer(text):
        group = match.lastindex or 0
        if not is_stand_in_token(match[group]):
            yield Secret(anchor.kind, *match.span(group))


def _is_mixed(tail: str) -> bool:
    """Return True if *tail* has digits among its letters, as no name has them."""
    digits = sum(map(str.isdigit, tail[:_MAX_MIXED]))
    return 2 <= digits < len(tail)


@lru_cache(maxsize=1)
def _prefixed() -> dict[str, list[tuple[str, Shape]]]:
    """Return the shapes by the first letters of their prefixes."""
    found: dict[str, list[tuple[str, Shape]]] = {}
    for shape in issuers.SHAPES:
        for prefix in shape.prefixes.split():
            starts = (
                [prefix[:_KEY]] if len(prefix) >= _KEY else [prefix + letter for letter in "0123456789abcdef"]
            )
            for start in starts:
                found.setdefault(start, []).append((prefix, shape))
    return found


@lru_cache(maxsize=1)
def _inner_starts() -> re.Pattern[str]:
    """Return what finds the places inside of a run where a prefix may begin: a trie of two levels."""
    by_letter: dict[str, list[str]] = {}
    for key in _prefixed():
        by_letter.setdefault(key[0], []).append(re.escape(key[1:]))
    branches = [f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items()]
    return re.compile(f"[_/+-](?=[{''.join(by_letter)}])(?:{'|'.join(branches)})")


@lru_cache(maxsize=1)
def _dotted() -> list[tuple[str, str, Shape]]:
    """Return the shapes whose prefix ends outside their long run, and the part of it that comes before."""
    return [
        (prefix[: max(prefix.rfind("."), prefix.rfind("~")) + 1], prefix, shape)
        for shape in issuers.DOTTED
        for prefix in shape.prefixes.split()
    ]


@lru_cache(maxsize=1)
def _dotted_heads() -> tuple[str, ...]:
    return tuple(head for head, _, _ in _dotted())


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled, at its first use: all of them at once would be felt when a hook starts."""
    return re.compile(pattern, re.ASCII)
