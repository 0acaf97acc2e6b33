"""The hypothesis: the suspected cause of a fault that is being worked on."""

import re
from typing import Any

from flowd.extractors.fields.progress import status_of
from flowd.extractors.text import cut_at_sentence, pieces, plain, sentences
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.paths import relative_paths
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


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the hypothesis while work is in progress, else an empty one."""
    if status_of(memory) != "in_progress":
        return {"hypothesis": ""}
    return {"hypothesis": relative_paths(believed(memory.turn.reply) or _found(memory), place)}


def believed(reply: str) -> str:
    """Return the last sentence of *reply* that names a suspected cause."""
    for piece in reversed(list(pieces(reply))):
        stated = sentences(plain(piece.text))
        for sentence in reversed(stated):
            if BELIEF.search(sentence) and not sentence.endswith(("?", "!")):
                return cut_at_sentence(sentence, LENGTH)
    return ""


def _found(memory: ConversationMemory) -> str:
    """Return the latest learning if one of the last two requests reports a fault."""
    if not any(FAULT.search(request.text) for request in memory.requests[-2:]):
        return ""
    learnt = [one.text for one in memory.findings if one.category == "learning"]
    return cut_at_sentence(learnt[-1], LENGTH) if learnt else ""
