"""Cue words and phrases that mark a sentence as a learning or a decision, with their weights."""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import product

Phrases = dict[str, tuple[tuple[str, float], ...]]

LEARNING_WORDS = {
    3.0: "gotcha gotchas",
    2.5: "pre-existing silently culprit",
    2.0: "because cause caused causes default defaults unrelated deprecated mismatch collides conflicts "
    "breaking incorrectly wrongly unexpectedly regression",
    1.5: "only already must confirmed verified doesn't didn't isn't aren't wasn't cannot can't won't "
    "requires required missing wrong broken bug bugs unused unless due caveat stale risk concern assumes "
    "expects likely prevents bypasses leaks race critical important finding findings tip beware limitation",
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
# Phrases weigh more than their words; each is looked up by one word of it.
LEARNING_PHRASES: Phrases = {
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
DECISION_PHRASES: Phrases = {
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
# Beginnings of sentences that announce the next action instead of stating a fact.
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
    "good idea",
    "good call",
    "good question",
    "good point",
    "good catch",
    "good news",
    "good progress",
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
    "i can see",
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
# Beginnings of sentences that refer to the one before and are hard to understand alone.
VAGUE = (
    "This ",
    "That ",
    "That's ",
    "Those ",
    "These ",
    "It ",
    "It's ",
    "They ",
    "Actually",
    "But ",
    "Or ",
    "And ",
    "My take",
    "Considered",
    "Otherwise",
)
# Praise in front of a statement.
APPLAUSE = re.compile(
    r"^(?:good|great|nice|perfect|excellent|okay|ok|right|yes)(?: (?:insight|idea|call|point|catch|news))?"
    r"\s*[-—–:,!]+\s+(?=\S)",
    re.IGNORECASE,
)
# Lines that only introduce a list.
GENERIC_LEADS = (
    "summary",
    "changes",
    "here",
    "this",
    "these",
    "the following",
    "what ",
    "now ",
    "done",
    "all ",
    "key ",
    "two ",
    "three ",
    "options",
    "details",
    "overview",
    "how ",
    "great",
    "let me",
    "updated",
    "features",
)
# Punctuation and markdown around a word: looking up all variants is cheaper than stripping every text.
_VARIANTS = "{} {}. {}, {}: {}; ({} {}) **{} {}** **{}** *{}* `{}` {}! {}:** {}.**".split()


@dataclass(eq=False, slots=True)
class Cue:
    """The weight of a word as a learning and as a decision, and of the phrases it is part of."""

    learning: float = 0.0
    decision: float = 0.0
    phrases: tuple[tuple[str, float, float], ...] = ()


def _cues() -> dict[str, Cue]:
    cues: defaultdict[str, Cue] = defaultdict(Cue)
    for weight, words in LEARNING_WORDS.items():
        for word in words.split():
            cues[word].learning = weight
    for weight, words in DECISION_WORDS.items():
        for word in words.split():
            cues[word].decision = weight
    for word, phrases in LEARNING_PHRASES.items():
        cues[word].phrases += tuple((phrase, weight, 0.0) for phrase, weight in phrases)
    for word, phrases in DECISION_PHRASES.items():
        cues[word].phrases += tuple((phrase, 0.0, weight) for phrase, weight in phrases)
    return {variant.format(word): cue for word, cue in cues.items() for variant in _VARIANTS}


CUES = _cues()
CUE_WORDS = frozenset(CUES)
# In every mix of upper and lower case: a lookup is cheaper than lowering each sentence.
FILLER_STARTS = frozenset(
    "".join(letters)
    for filler in FILLERS
    for letters in product(*zip(filler[:3], filler[:3].upper(), strict=True))
)
