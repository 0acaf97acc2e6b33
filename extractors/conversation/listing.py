"""Next steps listed in a reply."""

import re

from flowd.extractors.text import cut, pieces, plain, sentences

LENGTH = 200

_HEADING = re.compile(
    r"\b(?:next steps?|what's (?:left|next)|remaining|to ?do|follow[- ]ups?|still to do|action items)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:next(?: steps?| up)?\b(?: when ready)?[:,]?|remaining\b|todo\b|still to do\b"
    r"|you(?:'ll| will)? (?:still )?need to\b)\s*:?\s*(?=\S)",
    re.IGNORECASE,
)


def listed(reply: str) -> list[str]:
    """Return the steps that *reply* lists under a heading or names in sentences such as "Next: …"."""
    steps: list[str] = []
    inside = False
    for piece in pieces(reply):
        text = plain(piece.text)
        if piece.is_heading or text.endswith(":"):
            inside = _HEADING.search(text) is not None
        elif inside or (piece.is_item and _HEADING.search(piece.lead) is not None):
            steps.append(cut(text, LENGTH))
        else:
            steps += [cut(_SENTENCE.sub("", one), LENGTH) for one in sentences(text) if _SENTENCE.match(one)]
    return [step for step in steps if not step.endswith("?")]
