"""The hypothesis: what the assistant believes to be the cause, while it works on it."""

import re
from typing import Any

from flowd.extractors.fields.progress import status_of
from flowd.extractors.text import cut_at_sentence, pieces, plain, sentences
from flowd.extractors.transcript.memory import Memory
from flowd.extractors.transcript.paths import local
from flowd.extractors.transcript.protocol import ProjectPlace

LENGTH = 200

BELIEF = re.compile(
    r"\b(?:likely|probably|suspect|might be|may be|could be|seems to|appears to|must be|root cause"
    r"|the (?:issue|problem|cause|culprit|reason) is|that's why|because|hypothesis)\b",
    re.IGNORECASE,
)
FAULT = re.compile(
    r"\b(?:bugs?|errors?|fail\w*|broken|wrong|incorrect\w*|unexpected\w*|crash\w*|hang\w*|slow|delay|leak\w*"
    r"|flaky|not work\w*|doesn't work|undercount\w*|exit status|accurate|never)\b",
    re.IGNORECASE,
)


def describe(memory: Memory, place: ProjectPlace) -> dict[str, Any]:
    """Return the hypothesis of work under way; none once it is done, none where no fault is looked for."""
    if status_of(memory) != "in_progress":
        return {"hypothesis": ""}
    return {"hypothesis": local(believed(memory.turn.reply) or _found(memory), place)}


def believed(reply: str) -> str:
    """Return the last belief about a cause that *reply* states."""
    for piece in reversed(list(pieces(reply))):
        told = sentences(plain(piece.text))
        for sentence in reversed(told):
            if BELIEF.search(sentence) and not sentence.endswith(("?", "!")):
                return cut_at_sentence(sentence, LENGTH)
    return ""


def _found(memory: Memory) -> str:
    """Return the latest finding about the fault that the person reported."""
    if not any(FAULT.search(request.text) for request in memory.requests[-2:]):
        return ""
    learnt = [one.text for one in memory.findings if one.category == "learning"]
    return cut_at_sentence(learnt[-1], LENGTH) if learnt else ""
