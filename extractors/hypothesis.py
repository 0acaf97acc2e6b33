"""The hypothesis: what the assistant believes to be the cause, while it works on it."""

import re
from typing import Any

from flowd.extractors.memory import Memory
from flowd.extractors.places import local
from flowd.extractors.progress import status_of
from flowd.extractors.protocol import Place
from flowd.extractors.text import cut_at_sentence, pieces, plain, sentences

LENGTH = 200

BELIEF = re.compile(
    r"\b(?:likely|probably|suspect|might be|may be|could be|seems to|appears to|must be|root cause|the (?:issue|problem|cause|culprit|reason) is"
    r"|that's why|because|hypothesis)\b",
    re.IGNORECASE,
)


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return the hypothesis of work under way; none once it is done."""
    if status_of(memory) != "in_progress":
        return {"hypothesis": ""}
    return {"hypothesis": local(believed(memory.turn.reply), place)}


def believed(reply: str) -> str:
    """Return the last belief about a cause that *reply* states."""
    for piece in reversed(list(pieces(reply))):
        for sentence in reversed(sentences(plain(piece.text))):
            if BELIEF.search(sentence) and not sentence.endswith("?"):
                return cut_at_sentence(sentence, LENGTH)
    return ""
