"""What a closing reply reports, in a few sentences."""

import re

from flowd.extractors.text import cut, pieces, plain, sentences

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
        if text.endswith(":"):  # what follows it may be code or a list: alone it says nothing
            text = text[:-1] + "." if len(text) > MIN_REST else ""
        found += [one for one in sentences(_as_sentence(text)) if one and not _OPENER.match(one)]
        if len(found) > MAX_SENTENCES:
            break
    return [one for one in found if not one.endswith("?")]


def _as_sentence(text: str) -> str:
    return text if not text or text.endswith((".", "!", "?", "…")) else text + "."
