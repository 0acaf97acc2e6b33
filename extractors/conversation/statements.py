"""What a closing reply reports: the sentences that name a result, and those that close a step."""

import re

from flowd.extractors.text import cut, pieces, plain, sentences

MAX_CHARACTERS = 260
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
MAX_SENTENCES = 14
MIN_REST = 40

_OPENER = re.compile(
    r"^(?:all (?:\w+ )?(?:tests?|checks?|green|pass\w*|done|good)\b|tests? (?:and \w+ )?pass"
    r"|here(?:'s| is| are)"
    r"|summary\b|sources?\b|would you like|want me to|let me know|shall i|should i"
    r"|(?:great|perfect|excellent|done|good|nice|got it|sure|yes|no problem|absolutely|acknowledged"
    r"|okay|ok|fixed)"
    r"\b[^.!]{0,25}[.!]|you're (?:absolutely )?right)",
    re.IGNORECASE,
)


def done_statements(reply: str) -> list[str]:
    """Return the sentences and list items of *reply* that report something as done."""
    found: list[str] = []
    for piece in pieces(reply):
        if piece.is_heading:
            continue
        text = plain(piece.text)
        found += [cut(one, MAX_CHARACTERS) for one in sentences(text) if reports_done(one)]
        if len(found) >= MAX_STATEMENTS:
            break
    return found[:MAX_STATEMENTS]


def reports_done(sentence: str) -> bool:
    """Return True if *sentence* reports something as done."""
    return _DONE.search(sentence) is not None and not _NOT_DONE.search(sentence) and sentence[-1:] != "?"


def result_of(reply: str, size: int) -> str:
    """Return the sentences of *reply* that report something, as many as fit into *size* characters."""
    text = ""
    for sentence in _reported(reply):
        longer = f"{text} {sentence}" if text else sentence
        if len(longer) > size:
            return text if size - len(text) < MIN_REST or text else cut(longer, size)
        text = longer
    return text


def _reported(reply: str) -> list[str]:
    found: list[str] = []
    for piece in pieces(reply):
        if piece.is_heading:
            continue
        text = plain(piece.text)
        if text.endswith(":"):  # what follows it may be code or a list: alone it has no content
            text = text[:-1] + "." if len(text) > MIN_REST else ""
        found += [one for one in sentences(_as_sentence(text)) if one and not _OPENER.match(one)]
        if len(found) > MAX_SENTENCES:
            break
    return [one for one in found if not one.endswith("?")]


def _as_sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "…")) else text + "."
