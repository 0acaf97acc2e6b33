"""A small template language for invented secrets, so that no scanner takes these files for a leak.

``{A36}`` stands for 36 random letters and digits; the letter names the alphabet. The text between
``⟦`` and ``⟧`` is the secret, the rest is its surroundings.
"""

import random
import re
import string
import zlib
from typing import NamedTuple

_BASE32 = string.ascii_uppercase + "234567"
ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "_-",
    "S": string.ascii_letters + string.digits + "+/",
    "L": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "H": "0123456789abcdef",
    "X": "0123456789ABCDEF",
    "D": string.digits,
    "T": _BASE32,
    "l": string.ascii_lowercase,
    "M": string.ascii_letters,
    "P": string.ascii_letters + string.digits + "!@#%^*_+-",
}
_BLANK = re.compile(r"\{([A-Za-z])(\d+)\}")
_MARKED = re.compile("⟦([^⟦⟧]*)⟧")


class Planted(NamedTuple):
    """A text and the places of the secrets in it."""

    text: str
    spans: tuple[tuple[int, int], ...]


def fill(template: str, seed: str = "") -> str:
    """Return *template* with its blanks filled; the same template and *seed* always give the same text."""
    dice = random.Random(zlib.crc32((template + seed).encode()))
    return _BLANK.sub(lambda blank: _random(dice, ALPHABETS[blank[1]], int(blank[2])), template)


def planted(marked: str) -> Planted:
    """Return *marked* without its marks, and where the marked secrets stand."""
    pieces: list[str] = []
    spans: list[tuple[int, int]] = []
    length = end = 0
    for match in _MARKED.finditer(marked):
        before = marked[end : match.start()]
        start = length + len(before)
        pieces += [before, match[1]]
        length = start + len(match[1])
        spans.append((start, length))
        end = match.end()
    return Planted("".join(pieces) + marked[end:], tuple(spans))


def _random(dice: random.Random, alphabet: str, length: int) -> str:
    """Return random letters; longer ones hold a digit and a letter where the alphabet has both."""
    while True:
        text = "".join(dice.choices(alphabet, k=length))
        if length < 6 or len(set(map(str.isdigit, text))) == len(set(map(str.isdigit, alphabet))):
            return text
