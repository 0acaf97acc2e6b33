"""Sentences worth keeping: how they are told from the rest of what an assistant writes."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from flowd.extractors.text import Piece, cut, cut_at_sentence, pieces, plain, sentences

KEPT = 64
LENGTH = 300
SHORTEST = 30
THRESHOLD = 1.5
# A finding loses against one of equal weight a thousand records later by a thousand times this.
FRESHNESS_PER_RECORD = 0.002

Category = Literal["learning", "decision", "context"]

LEARNING_WORDS = {
    word: weight
    for weight, words in {
        3.0: "gotcha gotchas",
        2.5: "pre-existing silently culprit",
        2.0: "because cause caused causes default defaults unrelated deprecated mismatch collides conflicts breaking "
        "incorrectly wrongly unexpectedly regression",
        1.5: "only already must confirmed verified doesn't didn't isn't aren't wasn't cannot can't won't requires "
        "required missing wrong broken bug bugs unused unless due caveat stale risk concern assumes expects "
        "likely prevents bypasses leaks race",
        1.0: "never still fails failing failed failure failures means needs since ignores ignored without note "
        "notably actually existing error errors unsupported shows blocks limit nothing issue works",
        0.5: "so when if not no but real every each instead",
    }.items()
    for word in words.split()
}
DECISION_WORDS = {
    word: weight
    for weight, words in {
        3.0: "decided decision chose chosen",
        2.0: "simplest approach backwards backward-compatible deferred opted",
        1.5: "keep keeps keeping kept skip skipped skipping avoid avoids avoided separate recommended stays intentional "
        "deliberately intentionally scope always",
        1.0: "removed dropped renamed moved replaced extracted added instead rather should fixed unchanged",
        0.5: "use uses using now via",
    }.items()
    for word in words.split()
}
LEARNING_PHRASES = {
    "the issue": 2.5,
    "root cause": 3.0,
    "the problem": 2.0,
    "turns out": 3.0,
    "false positive": 2.0,
    "the bug": 1.5,
    "found it": 1.0,
    "the reason": 2.0,
    "that's why": 1.5,
    "there is no": 1.5,
    "there's no": 1.5,
    "by default": 1.0,
    "rather than": 0.5,
    "not required": 1.0,
    "heads up": 2.0,
    "watch out": 2.0,
    "key insight": 1.5,
    "worth knowing": 1.0,
}
DECISION_PHRASES = {
    "the fix is": 2.5,
    "the fix:": 2.0,
    "instead of": 1.0,
    "rather than": 1.0,
    "per your": 2.0,
    "as requested": 1.5,
    "out of scope": 2.0,
    "for now": 1.0,
    "so that": 1.0,
    "we should": 1.0,
    "i'll flag": 1.0,
    "best place": 1.0,
    "cleanest": 1.5,
    "to match": 1.0,
    "in favor of": 2.0,
    "trade-off": 1.0,
}
# Sentences that say what the assistant is about to look at, not what it knows.
FILLERS = (
    "let me",
    "now let me",
    "now let's",
    "let's ",
    "now i'll",
    "now i need to",
    "now add",
    "now update",
    "now run",
    "i'll start",
    "i'll now",
    "i'll help",
    "i'll examine",
    "i'll explore",
    "i'll read",
    "i'll look",
    "i'll check",
    "i need to",
    "first let me",
    "first, let me",
    "next, i'll",
    "next i'll",
    "running ",
    "reading ",
    "checking ",
    "here's ",
    "here is ",
    "here are ",
    "all tests pass",
    "tests pass",
    "all passing",
    "all green",
    "great",
    "perfect",
    "excellent",
    "good ",
    "you're ",
    "acknowledged",
    "no response requested",
    "done.",
    "would you like",
    "want me to",
    "shall i",
    "should i ",
    "do you want",
    "agree with",
    "looks good",
    "does that",
    "which ",
    "i've read",
    "now i have",
    "now i understand",
    "now i see",
    "i see the",
    "i understand",
    "i have enough",
    "found it",
    "summary",
    "question ",
    "wait,",
    "hmm",
    "for example",
    "example:",
)
_PUNCTUATION = str.maketrans({mark: " " for mark in '.,;:!?()[]{}"*`|<>=→—–'} | {"’": "'"})


class Finding(msgspec.Struct, array_like=True):
    """One kept sentence or two, how much they weigh, and where they stood."""

    text: str
    category: Category
    weight: float
    at: int
    line: int
    record: str
    part: int = 0


def in_reply(reply: str) -> Iterator[tuple[int, str, Category, float]]:
    """Yield position, text, kind and weight of the findings in an assistant's text, already rid of secrets."""
    for part, piece in enumerate(pieces(reply)):
        if piece.is_heading or len(piece.text) < SHORTEST:
            continue
        for text in _passages(piece):
            category, weight = weigh(text)
            if weight >= THRESHOLD:
                yield part, _with_lead(text, piece), category, weight


def weigh(text: str) -> tuple[Category, float]:
    """Return what kind of finding *text* is, and how much it weighs."""
    low = text.lower()
    words = set(low.translate(_PUNCTUATION).split())
    learning = sum(LEARNING_WORDS[word] for word in words & LEARNING_WORDS.keys())
    learning += sum(weight for phrase, weight in LEARNING_PHRASES.items() if phrase in low)
    decision = sum(DECISION_WORDS[word] for word in words & DECISION_WORDS.keys())
    decision += sum(weight for phrase, weight in DECISION_PHRASES.items() if phrase in low)
    weight = max(learning, decision) + 0.5 * min(learning, decision) + _shape(text, len(words))
    return ("decision" if decision > learning else "learning"), weight


def keep(findings: list[Finding], finding: Finding, limit: int = KEPT) -> None:
    """Add *finding*; when there are too many, let the lightest and oldest go."""
    findings.append(finding)
    if len(findings) > limit:
        findings.remove(min(findings, key=lambda one: one.weight + one.at * FRESHNESS_PER_RECORD))


def _shape(text: str, words: int) -> float:
    """Return what the form of a passage says for or against it."""
    weight = min(words, 40) / 20
    if "`" in text or "(" in text:
        weight += 0.5
    if text.endswith("?"):
        weight -= 3
    if text.endswith(":"):
        weight -= 1.5
    return weight


def _passages(piece: Piece) -> Iterator[str]:
    """Yield the passages of a piece that say something, each short enough for one finding."""
    passage = ""
    for sentence in sentences(piece.text):
        if sentence.lower().lstrip("*_").startswith(FILLERS):
            continue
        longer = f"{passage} {sentence}" if passage else sentence
        if len(longer) > LENGTH and passage:
            yield passage
            longer = sentence
        passage = longer
    if len(passage) >= SHORTEST:
        yield passage


def _with_lead(text: str, piece: Piece) -> str:
    bare = plain(text)
    lead = piece.lead.rstrip(":")
    if piece.is_item and 3 < len(lead) < 60 and len(lead) + len(bare) + 2 <= LENGTH:
        return f"{lead}: {bare}"
    return cut_at_sentence(bare, LENGTH) if len(bare) > LENGTH else cut(bare, LENGTH)
