"""The goal: the current request, and the topic it is part of."""

import re
from typing import Any

from flowd.extractors.text import capitalised, cut, cut_at_sentence, sentences
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.paths import relative_paths
from flowd.extractors.transcript.protocol import ProjectPlace

LENGTH = 200
TOPIC_LENGTH = 115
STALE_AFTER_REQUESTS = 3
MIN_TOPIC_WORDS = 4

_POLITE = re.compile(
    r"^(?:(?:ok|okay|hm+|well|great|thanks|thank you|perfect|nice|hi|hello|hey|please|sorry|yes|no|so|and|now"
    r"|alright|cool|not bad)\b[,.!]*\s+)*"
    r"(?:(?:can|could|would|will) (?:you|we)(?: please)?\s+|i(?:'d| would) like (?:you )?to\s+"
    r"|i want (?:you )?to\s+|i need you to\s+|i think (?:we|you) (?:should|have)\s+|please\s+"
    r"|(?:maybe )?let'?s (?:just |try and )?)?",
    re.IGNORECASE,
)
_RECAP_SUBJECT = re.compile(
    r"^(?:we(?:'re| are| were|'ve been| have been)?|you(?:'re| are)?|i(?:'m| am)?)\s+(?:currently\s+)?",
    re.IGNORECASE,
)
_MENTION = re.compile(r"(?:^|\s)@\S+")
_RESTATED = re.compile(
    r"^i'(?:ll|m going to) (?:help you (?:with|to)?\s*|start (?:by|with)\s+)?", re.IGNORECASE
)


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the goal."""
    return {"goal": relative_paths(_goal(memory), place)}


def asked(request: str) -> str:
    """Return a request without its polite phrases."""
    return capitalised(_POLITE.sub("", request, count=1)) or request


def _goal(memory: ConversationMemory) -> str:
    current = memory.requests[-1] if memory.requests else None
    topic, since = _topic(memory)
    if current is None or current.at <= since:
        return cut_at_sentence(topic or memory.title or _understood(memory), LENGTH)
    latest = asked(current.text)
    if not topic or topic[:60] == latest[:60]:
        return cut_at_sentence(latest, LENGTH)
    head = cut(topic.rstrip("."), TOPIC_LENGTH)
    return f"{head} — now: {cut(latest, LENGTH - len(head) - 8)}"


def _topic(memory: ConversationMemory) -> tuple[str, int]:
    """Return the topic of the whole session, and the record that last stated it."""
    recap, plan, summary = memory.recap, memory.plan, memory.summary
    if recap and sum(request.at > recap.at for request in memory.requests) <= STALE_AFTER_REQUESTS:
        return capitalised(_RECAP_SUBJECT.sub("", _opening(recap.text))), recap.at
    if plan and (summary is None or plan.at > summary.at):
        return plan.text, plan.at
    if summary and summary.request:
        return cut_at_sentence(summary.request, LENGTH), summary.at
    if memory.title:
        return memory.title, 0
    return _first_of_task(memory)


def _opening(recap: str) -> str:
    return next(iter(sentences(recap.partition("Next:")[0])), recap).strip()


def _first_of_task(memory: ConversationMemory) -> tuple[str, int]:
    """Return the first request after the last commit, or the first of the session."""
    committed_at = memory.commit.at if memory.commit else 0
    begun = next((request for request in memory.requests if request.at > committed_at), None)
    if committed_at and begun:
        return asked(begun.text), begun.at
    return _first_request(memory), memory.first.at if memory.first else 0


def _first_request(memory: ConversationMemory) -> str:
    """Return the first request, or the assistant's restatement if the request only names a file."""
    if memory.first is None:
        return ""
    first = asked(memory.first.text)
    if len(_MENTION.sub("", first).split()) < MIN_TOPIC_WORDS and memory.restated:
        return _understood(memory)
    return first


def _understood(memory: ConversationMemory) -> str:
    """Return the task as restated in the assistant's first sentence."""
    return capitalised(_RESTATED.sub("", memory.restated))
