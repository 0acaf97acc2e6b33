"""Compare two texts: do they name the same step? Shared terms, weighted by how specific they are."""

import re
from functools import lru_cache

# Words that do not identify a step.
STOP_WORDS = frozenset(
    "the and for with that this from into onto over under than then when where which while who whom "
    "whose what "
    "are was were been being has have had having does did doing not but can could will would shall "
    "should may "
    "might must you your our ours their them they its his her she him any all some each every both "
    "few more most "
    "other such only own same too very just also there here now about after before between through "
    "during above "
    "below out off again once still yet per via let lets want like need needs please able make sure one two "
    "currently already instead rather well etc use using used".split()
)
# Stems, as ``_stem`` returns them, of words that only mean "is to be done".
ACTIONS = frozenset(
    "add chang updat fix creat remov delet writ run check verif test implement review look see get "
    "set do don "
    "finish complet continu start handl work tak show mov put ensur address mak giv commit push build".split()
)
# A name of the code is more specific than a word of prose, and that more than "add" or "check".
NAME_WEIGHT = 2.0
ACTION_WEIGHT = 0.4
SAME = 0.62
MIN_SHARED_WEIGHT = 1.9
MIN_DIGITS = 3

_TOKEN = re.compile(r"[#@]?[\w][\w./-]*[\w]|\w")
_NAME = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[_./#\d]|\w-\w")
_TICKET = re.compile(r"#\d+|\b[A-Z]{2,}-\d+\b|\b(?!v\d|go\d|python)[a-z][a-z-]{0,60}+\w{0,60}+\.\d+\b(?!\.)")
_LINE_NUMBERS = re.compile(r":\d[\d,-]*")


@lru_cache(maxsize=2048)
def terms(text: str) -> dict[str, float]:
    """Return the terms of *text*, each with its weight; names of the code also by their last part."""
    found: dict[str, float] = {}
    for token in _TOKEN.findall(_LINE_NUMBERS.sub("", text)):
        if token.isdigit() and len(token) < MIN_DIGITS:
            continue
        if _NAME.search(token):
            found[_last_part(token)] = NAME_WEIGHT
            continue
        word = token.lower()
        if len(word) > 2 and word not in STOP_WORDS:
            stem = _stem(word)
            found.setdefault(stem, ACTION_WEIGHT if stem in ACTIONS else 1.0)
    return found


def share(step: str, of: str) -> float:
    """Return the share of *step*'s weight that occurs in *of*, however little that is."""
    wanted, given = terms(step), terms(of)
    total = sum(wanted.values())
    return sum(weight for term, weight in wanted.items() if term in given) / total if total else 0.0


def covered(step: str, by: str) -> float:
    """Return the share of *step*'s weight that *by* names too, 0 when they share too little to compare."""
    wanted, given = terms(step), terms(by)
    shared = sum(weight for term, weight in wanted.items() if term in given)
    total = sum(wanted.values())
    if not total or shared < min(MIN_SHARED_WEIGHT, total):
        return 0.0
    return shared / total


def is_same_step(one: str, other: str) -> bool:
    """Return True if two texts name the same step: the shorter is nearly all in the longer."""
    return max(covered(one, other), covered(other, one)) >= SAME


def says_little(text: str) -> bool:
    """Return True if *text* names nothing to do anything with: "Run the tests", "Commit", "Verify"."""
    return sum(weight for weight in terms(text).values() if weight != ACTION_WEIGHT) < 1.0


def tickets(text: str) -> list[str]:
    """Return the issue and task ids in *text*, without the project's name before them."""
    return [found.rpartition("-")[2] if "." in found else found for found in _TICKET.findall(text)]


def _last_part(token: str) -> str:
    """Return a path's file name and a qualified name's last part, in small letters."""
    name = token.rstrip("./-").rpartition("/")[2]
    return name.lower().rstrip("()")


def _stem(word: str) -> str:
    """Return *word* without the commonest endings, so that "added", "adds" and "adding" are one term."""
    for ending in ("ingly", "edly", "ation", "ing", "ies", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word.rstrip("e") if len(word) > 3 else word
