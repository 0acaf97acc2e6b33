"""Short answers to a question with options: which option was chosen."""

import re

from flowd.extractors.text import capitalised, cut, pieces, plain, sentences

MAX_ANSWER_WORDS = 6
MAX_END_CHARACTERS = 1500
PIECES_AT_END = 4
# Every offer contains one of these; most replies contain none.
OFFERING = ("want me", "you like", "shall i", "should i", "ready to")

_OPTION = re.compile(
    r"^\W*(?:option |choice )?\(?([A-Za-z]|\d{1,2})[.):]\W*\s+(.+)$|^\W*option ([A-Za-z]|\d{1,2})\W+(.+)$",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"^(?:option |let's go (?:for|with) |go (?:for|with) |number |#)?\(?([a-z]|\d{1,2})(?:\)|\.)?"
    r"(?:,? (?:please|thanks))?[.!]?$",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(?:yes|yep|yeah|y|sure|ok|okay|do it|go ahead|sounds good|looks good|approved?|lgtm|please do|agreed"
    r"|continue|go on)\b[\w ,.!]*$",
    re.IGNORECASE,
)
_NO = re.compile(r"^(?:no|nope|na|nah|don't|not now|stop|skip|never mind)\b", re.IGNORECASE)
_OFFER = re.compile(
    r"^(?:would you like me to|do you want me to|want me to|shall i|should i|would you like to|ready to)\s+"
    r"(?:also\s+|now\s+)?(.+?)\??$",
    re.IGNORECASE,
)


def chosen(answer: str, reply: str) -> str:
    """Return the option of *reply* that a short *answer* names; empty when it names none."""
    found = _ANSWER.match(answer.strip())
    if found:
        return _options(reply).get(found.group(1).lower(), "")
    word = answer.strip().lower().rstrip(".!")
    if len(word) > 2 and len(word.split()) <= 2 and not is_consent(word):
        return next((text for text in _options(reply).values() if word in text.lower()[:80]), "")
    return ""


def is_consent(answer: str) -> bool:
    """Return True if *answer* only agrees."""
    return is_short(answer) and _YES.match(answer.strip()) is not None


def is_short(answer: str) -> bool:
    """Return True if *answer* is short enough to be a mere choice."""
    return len(answer.split(None, MAX_ANSWER_WORDS)) <= MAX_ANSWER_WORDS


def declines(answer: str) -> bool:
    """Return True if *answer* begins with a no."""
    return _NO.match(answer) is not None


def offer_at_end(reply: str) -> str:
    """Return what the last question of *reply* offers to do, empty if nothing."""
    ending = reply[-MAX_END_CHARACTERS:]
    if "?" not in ending:
        return ""
    ending = ending.lower()
    return offer_in(question_in(reply)) if any(word in ending for word in OFFERING) else ""


def offer_in(question: str) -> str:
    """Return what *question* offers to do, empty if nothing."""
    found = _OFFER.match(question)
    return capitalised(found.group(1)) if found else ""


def question_in(reply: str) -> str:
    """Return the last question of an assistant's reply; empty when it ends without one."""
    if "?" not in reply[-MAX_END_CHARACTERS:]:
        return ""
    ending = list(pieces(reply[-MAX_END_CHARACTERS:]))[-PIECES_AT_END:]
    # Options may end with a question mark too: prefer text outside of lists.
    for piece in [
        *reversed([one for one in ending if not one.is_item]),
        *[one for one in ending if one.is_item],
    ]:
        for sentence in reversed(sentences(plain(piece.text))):
            if sentence.rstrip(")\"'*").endswith("?"):
                return sentence
    return ""


def _options(reply: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for line in reply.split("\n"):
        found = _OPTION.match(line.strip())
        if found:
            key = (found.group(1) or found.group(3)).lower()
            options[key] = cut(plain(found.group(2) or found.group(4)).replace("**", ""), 220)
    return options
