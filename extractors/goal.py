"""The goal: what the session works on now, and what that is part of."""

import re
from typing import Any

from flowd.extractors.memory import Memory
from flowd.extractors.places import local
from flowd.extractors.protocol import Place
from flowd.extractors.text import capitalised, cut, cut_at_sentence, sentences

LENGTH = 200
TOPIC_LENGTH = 115
STALE_AFTER_REQUESTS = 3

_POLITE = re.compile(
    r"^(?:(?:ok|okay|hm+|well|great|thanks|thank you|perfect|nice|hi|hello|hey|please|sorry|yes|no|so|and|now|alright|cool)\b[,.!]*\s+)*"
    r"(?:(?:can|could|would|will) (?:you|we)(?: please)?\s+|i(?:'d| would) like (?:you )?to\s+|i want (?:you )?to\s+"
    r"|i need you to\s+|please\s+|let'?s (?:just |try and )?|maybe let'?s\s+)?",
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


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return the goal."""
    return {"goal": local(_goal(memory), place)}


def asked(request: str) -> str:
    """Return a request without the courtesies around it."""
    return capitalised(_POLITE.sub("", request, count=1)) or request


def _goal(memory: Memory) -> str:
    current = memory.requests[-1] if memory.requests else None
    topic, since = _topic(memory)
    if current is None or current.at <= since:
        return cut_at_sentence(topic, LENGTH) if topic else cut(memory.title or "", LENGTH)
    latest = asked(current.text)
    if not topic or _same(topic, latest):
        return cut_at_sentence(latest, LENGTH)
    head = cut(topic.rstrip("."), TOPIC_LENGTH)
    return f"{head} — now: {cut(latest, LENGTH - len(head) - 8)}"


def _topic(memory: Memory) -> tuple[str, int]:
    """Return what the session is about at large, and when that was last said."""
    recap = memory.recap
    if recap and _requests_since(memory, recap.at) <= STALE_AFTER_REQUESTS:
        return capitalised(_RECAP_SUBJECT.sub("", _opening(recap.text))), recap.at
    plan = memory.plan
    summary = memory.summary
    if plan and (summary is None or plan.at > summary.at):
        return plan.text, plan.at
    if summary and summary.request:
        return cut_at_sentence(summary.request, LENGTH), summary.at
    if memory.title:
        return memory.title, 0
    return _first_request(memory), memory.first.at if memory.first else 0


def _opening(recap: str) -> str:
    return next(iter(sentences(recap.partition("Next:")[0])), recap)


def _first_request(memory: Memory) -> str:
    if memory.first is None:
        return ""
    first = asked(memory.first.text)
    bare = _MENTION.sub("", first).strip()
    if len(bare.split()) < 4 and memory.restated:
        return capitalised(_RESTATED.sub("", memory.restated))
    return first


def _requests_since(memory: Memory, at: int) -> int:
    return sum(request.at > at for request in memory.requests)


def _same(one: str, other: str) -> bool:
    return one[:60] == other[:60]
