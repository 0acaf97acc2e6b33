"""Names that mean a secret: their position in a text, and their meaning."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from flowd.redaction.words import KEY_OWNERS, PASS_OWNERS, PLAIN_ENDINGS, PLAIN_KEY_OWNERS, PLAIN_OWNERS

# The words that name a secret, each with the longer one that begins like it, if any.
_WORDS = (
    ("pass", "pass"),
    ("token", "token"),
    ("key", "key"),
    ("secret", "secret"),
    ("auth", "authorization"),
    ("pw", "pwd"),
    ("cred", "credential"),
    ("phrase", "phrase"),
    ("mnemonic", "mnemonic"),
    ("contrase", "contraseña"),
    ("psk", "psk"),
    ("senha", "senha"),
    ("wachtwoord", "wachtwoord"),
    ("пароль", "пароль"),
    ("密码", "密码"),
)
OWNER_LENGTH = 40
_SEPARATORS = ("_", "-", ".", " ")
_PLAIN_KEY_OWNER = re.compile(rf"(?:^|[^a-z])(?:{'|'.join(PLAIN_KEY_OWNERS)})[_\-. ]?\Z")
_AUTH_OWNER = re.compile(r"(?:^|[^a-z0-9])(?:(?:basic|master|proxy|http|user)[_\-. ]?|[_-])?\Z")
_PHRASE_OWNER = re.compile(r"(?:seed|recovery|backup|mnemonic|secret|pass)[_\- ]\Z")
_PASSWORD_ENDINGS = ("word", "wort", "wd", "phrase", "code")
# Also other words that begin like one that names a secret: tokenize, passenger, secretary, keyboard, author.
_PLAIN_ENDING = re.compile(
    rf"(?:^|[_-])(?:{'|'.join(PLAIN_ENDINGS)})s?\Z"
    r"|^(?:iz|is[ei]|ar|ion|less|ly|name|ed\Z|ing|ish|e?rs?\Z|board|chain|stone|pad|note|word|frame|hole|ring"
    r"|enticat|ent|or(?!iz)|ority)"
)
# These must be whole words: ``admin`` ends with ``min``.
_SHORT_PLAIN_OWNER = re.compile(r"(?<![a-z])(?:sync|max|min|num|stop|pad|eos|bos|unk|mask|sep|cls|read)\Z")


class Meaning(NamedTuple):
    """What a name means. A *weak* name has other uses as well: its value must look like a secret."""

    kind: str
    is_weak: bool = False

    @property
    def is_password(self) -> bool:
        """Whether the name means a password, which may be any word."""
        return self.kind == "password"


_PASSWORD = Meaning("password")
_SECRET = Meaning("secret")
_WEAK = Meaning("secret", is_weak=True)


class NamePlace(NamedTuple):
    """A word that names a secret, and its position."""

    start: int
    end: int
    word: str


def find_names(lowered: str) -> list[NamePlace]:
    """Return the words in *lowered*, a text in lower case, that name a secret, in order."""
    # One word after the other: a pattern would try for all of them at every letter. Spelled out, because a
    # loop over the words would cost twice what the looks do, and most texts have none.
    if not (
        "pass" in lowered
        or "token" in lowered
        or "key" in lowered
        or "secret" in lowered
        or "auth" in lowered
        or "pw" in lowered
        or "cred" in lowered
        or "phrase" in lowered
        or "mnemonic" in lowered
        or "contrase" in lowered
        or "psk" in lowered
        or "senha" in lowered
        or "wachtwoord" in lowered
        or "пароль" in lowered
        or "密码" in lowered
    ):
        return []
    return sorted(place for short, long in _WORDS for place in _places(lowered, short, long))


def _places(lowered: str, short: str, long: str) -> Iterator[NamePlace]:
    start = lowered.find(short)
    while start >= 0:
        word = long if lowered.startswith(long, start) else short
        yield NamePlace(start, start + len(word), word)
        start = lowered.find(short, start + len(word))


def meaning_of(place: NamePlace, rest: str, owner: str, *, in_capitals: bool) -> Meaning | None:
    """Return what a name means, or None if it means no secret.

    *owner* is the text before the word (``client_`` of ``client_secret``), *rest* the end of the name.
    """
    before = owner.rstrip("_-")
    if before.endswith(PLAIN_OWNERS) or _SHORT_PLAIN_OWNER.search(before, max(0, len(before) - 5)):
        return None
    if place.word == "pass":
        return _of_pass(rest, owner)
    if rest and _PLAIN_ENDING.search(rest):
        return None
    if place.word == "key":
        return _of_key(rest, owner, in_capitals=in_capitals)
    if place.word in ("pw", "psk", "auth", "phrase", "cred"):
        return _of_short_word(place.word, rest, owner)
    if place.word in ("secret", "mnemonic"):
        return _PASSWORD if place.word == "mnemonic" else _SECRET
    if place.word in ("token", "authorization", "credential"):
        return _of_token(place.word, rest, owner)
    return _PASSWORD


def _of_pass(rest: str, owner: str) -> Meaning | None:
    if rest.startswith(_PASSWORD_ENDINGS):
        ending = next(ending for ending in _PASSWORD_ENDINGS if rest.startswith(ending))
        return None if _PLAIN_ENDING.search(rest[len(ending) :]) else _PASSWORD
    if rest == "e" and owner.endswith("mot de "):
        return _PASSWORD
    if rest:
        return None
    if owner[-1:] in ("_", "-", ".") or owner.endswith(PASS_OWNERS):
        return _PASSWORD
    return None if owner[-1:].isalnum() else Meaning("password", is_weak=True)


def _of_key(rest: str, owner: str, *, in_capitals: bool) -> Meaning | None:
    if rest and not rest.startswith(("_", "-")):
        return None
    if (owner[:-1] if owner[-1:] in _SEPARATORS else owner).endswith(KEY_OWNERS):
        return _SECRET
    if in_capitals and owner[-1:] in ("_", "-") and not _PLAIN_KEY_OWNER.search(owner):
        return _WEAK
    return None


def _of_short_word(word: str, rest: str, owner: str) -> Meaning | None:
    if word == "phrase":
        return _PASSWORD if _PHRASE_OWNER.search(owner) and not rest else None
    if word == "cred":
        return _WEAK if rest in ("s", "") and not owner[-1:].isalnum() else None
    if rest:
        return None
    if word == "auth":
        return _WEAK if _AUTH_OWNER.search(owner) else None
    return None if owner[-1:].isalnum() else _PASSWORD


def _of_token(word: str, rest: str, owner: str) -> Meaning | None:
    if rest.startswith("s") and word == "token":
        return _WEAK if rest == "s" else None
    is_compound = word == "token" and owner[-1:] in ("_", "-", ".") and owner[-2:-1].isalnum()
    return _SECRET if is_compound else _WEAK
