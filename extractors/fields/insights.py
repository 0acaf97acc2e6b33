"""Insights: the heaviest findings, without duplicates, adjacent ones merged."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from flowd.extractors.fields.findings import LENGTH, Finding, worth
from flowd.extractors.text import alike, content_words
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import ProjectPlace, relative_paths
from flowd.model.session import Insight

KEPT = 12
SIMILARITY = 0.55
CURRENT = 1.0
NEAR = 2

# Says that a check fails, or that something is left to commit: true only until the next check or commit.
_RED = re.compile(
    r"\b(?:tests?|checks?|build|lint\w*|ci|type[- ]?check\w*|compil\w+)\b[^.]{0,40}"
    r"\b(?:fail\w*|errors?|broken|red|issues?)\b"
    r"|\b(?:fail\w*|errors?)\b[^.]{0,30}\b(?:tests?|checks?|lint\w*|build|ci)\b"
    r"|\bunused (?:import|variable|function|parameter)s?\b"
    r"|\bnot (?:yet )?(?:committed|pushed)\b|\buncommitted\b",
    re.IGNORECASE,
)


def describe(memory: ConversationMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the insights, and decisions and learnings by themselves."""
    begun = memory.requests[-1].at if memory.requests else 0
    green_at = _green_at(memory)
    chosen = [
        msgspec.structs.replace(one, text=relative_paths(one.text, place))
        for one in select(memory.findings, KEPT, begun, memory.findings_aside)
    ]
    still_true = [one for one in chosen if not (one.at < green_at and _RED.search(one.text))]
    return {
        "insights": tuple(Insight(one.category, one.text, one.record, one.line) for one in chosen),
        "decisions": tuple(one.text for one in still_true if one.category == "decision"),
        "learnings": tuple(one.text for one in still_true if one.category == "learning"),
    }


def reads(memory: ConversationMemory) -> tuple[object, ...]:
    """Return everything that ``describe`` reads."""
    return (memory.requests, tuple(memory.findings), tuple(memory.findings_aside), _green_at(memory))


def _green_at(memory: ConversationMemory) -> int:
    """Return when the last check passed or the last commit was made: what was red before is over."""
    check, commit = memory.check, memory.commit
    return max(check.at if check and check.passed else 0, commit.at if commit else 0)


def select(
    findings: list[Finding], limit: int, begun: int = 0, aside: Sequence[Finding] = ()
) -> list[Finding]:
    """Return the heaviest findings; those since record *begun* rank higher, those *aside* come last."""
    chosen: list[Finding] = []
    vocabulary: list[set[str]] = []
    ranked = sorted(findings, key=lambda one: -(worth(one) + CURRENT * (one.at >= begun)))
    for one in [*ranked, *aside]:
        words = content_words(one.text)
        if any(alike(words, other, SIMILARITY) for other in vocabulary):
            continue
        if _joins_neighbour(one, chosen):
            continue
        if len(chosen) < limit:
            chosen.append(one)
            vocabulary.append(words)
    return chosen


def _joins_neighbour(one: Finding, chosen: list[Finding]) -> bool:
    """Merge *one* into an adjacent chosen finding if both fit into one insight; return True if merged."""
    for index, other in enumerate(chosen):
        if other.record != one.record or other.at != one.at or abs(other.part - one.part) > NEAR:
            continue
        first, second = (other, one) if other.part < one.part else (one, other)
        lead = first.text.partition(": ")[0] + ": "
        text = f"{first.text.rstrip(' .;:')}. {second.text.removeprefix(lead)}"
        if len(text) <= LENGTH:
            chosen[index] = Finding(
                text, other.category, other.weight, other.at, other.line, other.record, other.part
            )
            return True
    return False
