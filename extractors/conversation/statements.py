"""What a reply says is done: the sentences that may close a step."""

import re

from flowd.extractors.text import cut, pieces, plain, sentences

LENGTH = 260
MAX_STATEMENTS = 24

_DONE = re.compile(
    r"^\W*(?:[A-Z]\w+ed|Built|Wrote|Made|Rewrote|Split|Done|Now)\b"
    r"|\b(?:done|completed?|finished|fixed|implemented|added|removed|renamed|updated|replaced|merged|pushed|committed"
    r"|resolved|closed|created|landed|shipped|rewritten|written|in place|no longer|moved|extracted"
    r"|now (?:\w+s|have|are|reads|in)\b|tests? pass\w*|passes|passing|squashed)\b|✅|✓",
)
_NOT_DONE = re.compile(
    r"\b(?:not (?:yet|done|committed|pushed)|still|isn't|aren't|haven't|hasn't|wasn't|remaining|pending|to do"
    r"|should|would|could|needs? to|will|want me|if you|once you|before you|failed|fails)\b",
    re.IGNORECASE,
)


def done_statements(reply: str) -> list[str]:
    """Return the sentences and list items of *reply* that say that something is done."""
    found: list[str] = []
    for piece in pieces(reply):
        if piece.is_heading:
            continue
        text = plain(piece.text)
        found += [cut(one, LENGTH) for one in sentences(text) if says_done(one)]
        if len(found) >= MAX_STATEMENTS:
            break
    return found[:MAX_STATEMENTS]


def says_done(sentence: str) -> bool:
    """Return True if *sentence* says that something is done."""
    return _DONE.search(sentence) is not None and not _NOT_DONE.search(sentence) and sentence[-1:] != "?"
