"""Sentences worth keeping: weighed by the words in them, the heaviest kept."""

from typing import Literal

import msgspec

from flowd.extractors.fields.cues import (
    APPLAUSE,
    CUE_WORDS,
    CUES,
    FILLER_STARTS,
    FILLERS,
    GENERIC_LEADS,
    VAGUE,
)
from flowd.extractors.text import cut_at_sentence, pieces, plain, sentences
from flowd.redaction.redactor import redact

KEPT = 24
MOST = 36
LENGTH = 300
MAX_LEAD_CHARACTERS = 60
SHORTEST = 40
# The first few findings may be light ones: a short session has no others.
ENOUGH = 12
LIGHTEST = 2.5
LIGHT = 4.5
# No less than what backticks and stars add to a passage together.
MAX_FOR_MARKS = 1.25
# A finding loses against one of equal weight a thousand records later by a thousand times this.
FRESHNESS_PER_RECORD = 0.002

Category = Literal["learning", "decision", "context"]


class Finding(msgspec.Struct, array_like=True):
    """One kept sentence or two, how much they weigh, and where they stood.

    Until it is settled the text is as it was written, and ``lead`` the line that leads into it.
    """

    text: str
    category: Category
    weight: float
    at: int
    line: int
    record: str
    part: int = 0
    lead: str | None = None


class Passage(msgspec.Struct, gc=False):
    """A candidate: a sentence or two of a reply as it was written, and what it weighs."""

    text: str
    category: Category
    weight: float
    part: int
    lead: str
    is_item: bool


def passages(reply: str, threshold: float) -> list[Passage]:
    """Return the passages of an assistant's *reply* that weigh at least *threshold*."""
    found: list[Passage] = []
    for part, piece in enumerate(pieces(reply, SHORTEST)):
        text = piece.text
        if piece.is_heading:
            continue
        # A short piece outweighs its parts: most need no second look. A long one is looked at in parts.
        whole = None
        if len(text) <= LENGTH:
            least = threshold if threshold >= LIGHTEST or "`" in text else LIGHTEST
            whole = weigh(text, least)
            if whole[1] < least:
                continue
        for passage in _passages(text):
            category, weight = whole if whole and passage == text else weigh(passage, threshold)
            if weight >= threshold and not is_musing(passage):
                found.append(Passage(passage, category, weight, part, piece.lead, piece.is_item))
    return found


def found(passage: Passage, at: int, line: int, record: str) -> Finding:
    """Return a passage as a finding, not settled yet: most findings make room for others unread."""
    lead = passage.lead if passage.is_item else ""
    return Finding(passage.text, passage.category, passage.weight, at, line, record, passage.part, lead)


def settle(findings: list[Finding]) -> None:
    """Make the texts of *findings* plain and rid them of secrets."""
    for one in findings:
        if one.lead is not None:
            one.text, one.lead = told(one.text, one.lead), None


def told(written: str, lead: str = "") -> str:
    """Return a passage as a finding tells it: plain, rid of secrets, with what leads into it."""
    bare = plain(written)
    if bare.endswith(":"):
        bare = bare[:-1] + "."
    lead = _lead(lead)
    if lead and len(lead) + len(bare) + 2 <= LENGTH:
        bare = f"{lead}: {bare}"
    return cut_at_sentence(redact(bare), LENGTH)


def weigh(text: str, least: float = 0.0) -> tuple[Category, float]:
    """Return what kind of finding *text* is, and how much it weighs: exactly, from *least* on."""
    low = text.lower()
    words = low.split()
    learning = decision = 0.0
    for cue in set(map(CUES.__getitem__, CUE_WORDS.intersection(words))):
        learning += cue.learning
        decision += cue.decision
        if cue.phrases:
            for phrase, for_learning, for_decision in cue.phrases:
                if phrase in low:
                    learning += for_learning
                    decision += for_decision
    is_decision = decision > learning
    weight = decision + 0.5 * learning if is_decision else learning + 0.5 * decision
    # Most passages are light, whatever their form may add.
    if weight + len(words) / 20 + MAX_FOR_MARKS >= least:
        weight += _shape(text, len(words))
    return ("decision" if is_decision else "learning"), weight


def worth(finding: Finding) -> float:
    """Return what a finding weighs against older and newer ones."""
    return finding.weight + finding.at * FRESHNESS_PER_RECORD


def keep(findings: list[Finding], finding: Finding) -> float | None:
    """Add *finding*; when there are too many, let the lightest and oldest go, return the least that stays."""
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
    if "*" in text and "**" in text:
        weight += 0.7
    if text.endswith("?"):
        weight -= 3
    if text.startswith(VAGUE):
        weight -= 1
    return weight


def is_musing(passage: str) -> bool:
    """Tell whether a passage thinks aloud: what it says is taken back in the next breath."""
    # Spelled out: a loop over the words would cost more than the looks do.
    return (
        "Hmm" in passage
        or "no wait" in passage
        or ("-" in passage and "et me re-" in passage)
        or ("," in passage and _falters(passage))
    )


def _falters(passage: str) -> bool:
    return "wait," in passage or "Wait," in passage or "Ah, " in passage or "... no," in passage


def _lead(line: str) -> str:
    """Return the heading or label that a list item stands under, when it says more than that a list comes."""
    if not line:
        return ""
    lead = plain(sentences(line)[-1]).strip(": ")
    return "" if len(lead) > MAX_LEAD_CHARACTERS or lead.lower().startswith(GENERIC_LEADS) else lead


def _passages(text: str) -> list[str]:
    """Return the passages of a paragraph that say something, each short enough for one finding."""
    lasting = _lasting(APPLAUSE.sub("", text, count=1) if text[0] in "GgNnPpEeOoRrYy" else text)
    if len(lasting) > 1 and lasting[-1].endswith((":", ":**")):  # no other sentence can end so
        lasting.pop()
    found: list[str] = []
    passage = ""
    for sentence in lasting:
        if not passage:
            passage = sentence
        elif len(passage) + len(sentence) < LENGTH:
            passage = f"{passage} {sentence}"
        else:
            found.append(passage)
            passage = sentence
    if len(passage) >= SHORTEST:
        found.append(passage)
    return found


def _lasting(text: str) -> list[str]:
    """Return the sentences of *text* that are no filler."""
    said = sentences(text)
    if (
        " let me " in text
        or ("," in text and ", I'll " in text)
        or "*" in text
        or "_" in text
        or text.endswith(":")
    ):
        return [one for one in said if not _is_filler(one)]
    # All other filler is known by how it starts.
    return [one for one in said if one[:3] not in FILLER_STARTS or not _starts_as_filler(one)]


def _is_filler(sentence: str) -> bool:
    """Tell whether a sentence announces, comments or leads in, and says nothing that lasts."""
    bare = sentence[:24].lstrip("*_") if sentence[0] in "*_" else sentence
    if bare[:3] in FILLER_STARTS and _starts_as_filler(bare):
        return True
    if " let me " in sentence or ", I'll " in sentence:
        return True
    return sentence.endswith((":", ":**")) and len(sentence) < MAX_LEAD_CHARACTERS


def _starts_as_filler(sentence: str) -> bool:
    return sentence[:24].lower().startswith(FILLERS)
