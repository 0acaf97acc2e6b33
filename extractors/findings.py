"""Sentences worth keeping: how they are told from the rest of what an assistant writes."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from flowd.extractors.redaction import redact
from flowd.extractors.text import Piece, cut_at_sentence, pieces, plain, sentences

KEPT = 30
MOST = 45
LENGTH = 300
LONGEST_LEAD = 60
SHORTEST = 40
# The first few findings may be light ones: a short session has no others.
ENOUGH = 12
LIGHTEST = 3.0
LIGHT = 4.0
# A finding loses against one of equal weight a thousand records later by a thousand times this.
FRESHNESS_PER_RECORD = 0.002

Category = Literal["learning", "decision", "context"]

LEARNING_WORDS = {
    3.0: "gotcha gotchas",
    2.5: "pre-existing silently culprit",
    2.0: "because cause caused causes default defaults unrelated deprecated mismatch collides conflicts "
    "breaking incorrectly wrongly unexpectedly regression",
    1.5: "only already must confirmed verified doesn't didn't isn't aren't wasn't cannot can't won't "
    "requires required missing wrong broken bug bugs unused unless due caveat stale risk concern assumes "
    "expects likely prevents bypasses leaks race",
    1.0: "never still fails failing failed failure failures means needs since ignores ignored without "
    "note notably actually existing error errors unsupported shows blocks limit nothing issue works",
    0.5: "so when if not no but real every each instead",
}
DECISION_WORDS = {
    3.0: "decided decision chose chosen",
    2.0: "simplest approach backwards backward-compatible deferred opted",
    1.5: "keep keeps keeping kept skip skipped skipping avoid avoids avoided separate recommended stays "
    "intentional deliberately intentionally scope always cleanest",
    1.0: "removed dropped renamed moved replaced extracted added instead rather should fixed unchanged",
    0.5: "use uses using now via",
}
_Phrases = dict[str, tuple[tuple[str, float], ...]]
# Two words together say more than each; the first of a pair stands for both in the quick look.
LEARNING_PHRASES: _Phrases = {
    "issue": (("the issue", 2.5),),
    "root": (("root cause", 3.0),),
    "problem": (("the problem", 2.0),),
    "turns": (("turns out", 3.0),),
    "false": (("false positive", 2.0),),
    "bug": (("the bug", 1.5),),
    "reason": (("the reason", 2.0),),
    "that's": (("that's why", 1.5),),
    "there": (("there is no", 1.5),),
    "there's": (("there's no", 1.5),),
    "default": (("by default", 1.0),),
    "heads": (("heads up", 2.0),),
    "watch": (("watch out", 2.0),),
    "insight": (("key insight", 1.5),),
}
DECISION_PHRASES: _Phrases = {
    "fix": (("the fix is", 2.5), ("the fix:", 2.0)),
    "instead": (("instead of", 1.0),),
    "rather": (("rather than", 1.0),),
    "per": (("per your", 2.0),),
    "requested": (("as requested", 1.5),),
    "for": (("for now", 1.0),),
    "so": (("so that", 1.0),),
    "we": (("we should", 1.0),),
    "match": (("to match", 1.0),),
    "favor": (("in favor of", 2.0),),
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
_FILLER_STARTS = frozenset(filler[:3] for filler in FILLERS)


class _Cue(NamedTuple):
    learning: float = 0.0
    decision: float = 0.0
    learning_phrases: tuple[tuple[str, float], ...] = ()
    decision_phrases: tuple[tuple[str, float], ...] = ()


def _cues() -> dict[str, _Cue]:
    """Return what each cue word says, by the word in every dress in which a text may show it."""
    cues: dict[str, _Cue] = {}
    for weight, words in LEARNING_WORDS.items():
        cues |= {word: _Cue(learning=weight) for word in words.split()}
    for weight, words in DECISION_WORDS.items():
        cues |= {word: cues.get(word, _Cue())._replace(decision=weight) for word in words.split()}
    for word, phrases in LEARNING_PHRASES.items():
        cues[word] = cues.get(word, _Cue())._replace(learning_phrases=phrases)
    for word, phrases in DECISION_PHRASES.items():
        cues[word] = cues.get(word, _Cue())._replace(decision_phrases=phrases)
    dresses = ("{}", "{}.", "{},", "{}:", "{};", "({}", "{})", "**{}", "{}**", "**{}**", "*{}*", "`{}`", "{}!", "{}:**", "{}.**")
    return {dress.format(word): cue for word, cue in cues.items() for dress in dresses}


_CUES = _cues()


class Finding(msgspec.Struct, array_like=True):
    """One kept sentence or two, how much they weigh, and where they stood."""

    text: str
    category: Category
    weight: float
    at: int
    line: int
    record: str
    part: int = 0


class Passage(NamedTuple):
    """A candidate: a sentence or two of a reply as it was written, and what it weighs."""

    text: str
    category: Category
    weight: float
    part: int
    piece: Piece


def passages(reply: str, threshold: float) -> list[Passage]:
    """Return the passages of an assistant's *reply* that weigh at least *threshold*."""
    found: list[Passage] = []
    for part, piece in enumerate(pieces(reply)):
        text = piece.text
        # The whole outweighs its parts: most pieces need no second look.
        if len(text) < SHORTEST or piece.is_heading or weigh(text)[1] < threshold:
            continue
        for passage in _passages(text):
            category, weight = weigh(passage)
            if weight >= threshold:
                found.append(Passage(passage, category, weight, part, piece))
    return found


def told(passage: Passage) -> str:
    """Return a passage as a finding tells it: plain, rid of secrets, with what leads into it."""
    bare = plain(passage.text)
    if passage.piece.is_item and passage.piece.lead:
        lead = plain(passage.piece.lead).rstrip(":")
        if 3 < len(lead) < LONGEST_LEAD and len(lead) + len(bare) + 2 <= LENGTH:
            bare = f"{lead}: {bare}"
    return cut_at_sentence(redact(bare), LENGTH)


def weigh(text: str) -> tuple[Category, float]:
    """Return what kind of finding *text* is, and how much it weighs."""
    low = text.lower()
    words = low.split()
    learning = decision = 0.0
    for word in {word for word in words if word in _CUES}:
        cue = _CUES[word]
        learning += cue.learning
        decision += cue.decision
        for phrase, weight in cue.learning_phrases:
            learning += weight if phrase in low else 0
        for phrase, weight in cue.decision_phrases:
            decision += weight if phrase in low else 0
    weight = max(learning, decision) + 0.5 * min(learning, decision) + _shape(text, len(words))
    return ("decision" if decision > learning else "learning"), weight


def worth(finding: Finding) -> float:
    """Return what a finding weighs against older and newer ones."""
    return finding.weight + finding.at * FRESHNESS_PER_RECORD


def keep(findings: list[Finding], finding: Finding) -> float | None:
    """Add *finding*; when there are too many, let the lightest and oldest go and return what the rest is worth."""
    findings.append(finding)
    if len(findings) < MOST:
        return None
    heaviest = sorted(findings, key=worth)[-KEPT:]
    findings[:] = sorted(heaviest, key=lambda one: (one.at, one.part))
    return worth(heaviest[0])


def threshold(kept: int, floor: float, at: int) -> float:
    """Return the weight below which a passage found *at* that record is not worth keeping."""
    least = LIGHTEST if kept < ENOUGH else LIGHT
    return max(least, floor - at * FRESHNESS_PER_RECORD)


def _shape(text: str, words: int) -> float:
    """Return what the form of a passage says for or against it."""
    weight = min(words, 40) / 20
    if "`" in text or "(" in text:
        weight += 0.5
    if text.endswith("?"):
        weight -= 3
    elif text.endswith(":"):
        weight -= 1.5
    return weight


def _passages(text: str) -> list[str]:
    """Return the passages of a paragraph that say something, each short enough for one finding."""
    found: list[str] = []
    passage = ""
    for sentence in sentences(text):
        start = sentence[:24].lower().lstrip("*_")
        if start[:3] in _FILLER_STARTS and start.startswith(FILLERS):
            continue
        longer = f"{passage} {sentence}" if passage else sentence
        if len(longer) > LENGTH and passage:
            found.append(passage)
            longer = sentence
        passage = longer
    return [*found, passage] if len(passage) >= SHORTEST else found
