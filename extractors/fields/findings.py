"""Findings: sentences worth keeping, weighted by their cue words; the heaviest are kept."""

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
MAX_FINDINGS = 36
LENGTH = 300
MAX_LEAD_CHARACTERS = 60
SHORTEST = 40
# The first few findings may weigh less: a short session has no others.
ENOUGH = 12
LIGHTEST = 2.5
LIGHT = 4.5
# At least as much as backticks and stars can add to a passage (see _shape).
MAX_FOR_MARKS = 1.25
# Newer findings weigh more: by this much per record.
FRESHNESS_PER_RECORD = 0.002

Category = Literal["learning", "decision", "context"]


class Finding(msgspec.Struct, array_like=True):
    """One or two sentences, their weight, and the record and line that they come from.

    Until ``finalize`` the text is raw markdown and ``lead`` is the line that introduces it; then it is None.
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
    """A candidate: one or two sentences of a reply as written, and their weight."""

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
        # A short piece weighs at least as much as its parts, so a light one is skipped whole.
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
    """Return a passage as a finding that is not final yet: most are dropped before anybody reads them."""
    lead = passage.lead if passage.is_item else ""
    return Finding(passage.text, passage.category, passage.weight, at, line, record, passage.part, lead)


def finalize(findings: list[Finding]) -> None:
    """Convert the texts of *findings* to plain text and redact them."""
    for one in findings:
        if one.lead is not None:
            one.text, one.lead = finding_text(one.text, one.lead), None


def finding_text(written: str, lead: str = "") -> str:
    """Return a passage as plain, redacted text, with the line that introduces it."""
    bare = plain(written)
    if bare.endswith(":"):
        bare = bare[:-1] + "."
    lead = _lead(lead)
    if lead and len(lead) + len(bare) + 2 <= LENGTH:
        bare = f"{lead}: {bare}"
    return cut_at_sentence(redact(bare), LENGTH)


def weigh(text: str, least: float = 0.0) -> tuple[Category, float]:
    """Return the category and weight of *text*; a weight below *least* may be too low."""
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
    # Skip the form of passages that stay below the threshold anyway.
    if weight + len(words) / 20 + MAX_FOR_MARKS >= least:
        weight += _shape(text, len(words))
    return ("decision" if is_decision else "learning"), weight


def worth(finding: Finding) -> float:
    """Return the weight of a finding, corrected for its age."""
    return finding.weight + finding.at * FRESHNESS_PER_RECORD


def keep(findings: list[Finding], finding: Finding) -> float | None:
    """Add *finding*; if there are too many, drop the least worth and return the lowest worth that is left."""
    findings.append(finding)
    if len(findings) < MAX_FINDINGS:
        return None
    heaviest = sorted(findings, key=worth)[-KEPT:]
    findings[:] = sorted(heaviest, key=lambda one: (one.at, one.part))
    return worth(heaviest[0])


def threshold(kept: int, floor: float, at: int) -> float:
    """Return the weight below which a passage found *at* that record is not worth keeping."""
    least = LIGHTEST if kept < ENOUGH else LIGHT
    return max(least, floor - at * FRESHNESS_PER_RECORD)


def _shape(text: str, words: int) -> float:
    """Return the weight that the form of a passage adds or takes away."""
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
    """Return True if a passage thinks aloud and corrects itself."""
    # Hot path, unrolled: a loop over the words costs more than the comparisons.
    return (
        "Hmm" in passage
        or "no wait" in passage
        or ("-" in passage and "et me re-" in passage)
        or ("," in passage and _falters(passage))
    )


def _falters(passage: str) -> bool:
    return "wait," in passage or "Wait," in passage or "Ah, " in passage or "... no," in passage


def _lead(line: str) -> str:
    """Return the heading or label above a list item, unless it is generic."""
    if not line:
        return ""
    lead = plain(sentences(line)[-1]).strip(": ")
    return "" if len(lead) > MAX_LEAD_CHARACTERS or lead.lower().startswith(GENERIC_LEADS) else lead


def _passages(text: str) -> list[str]:
    """Return the passages of a paragraph without filler, each short enough for one finding."""
    kept = _without_filler(APPLAUSE.sub("", text, count=1) if text[0] in "GgNnPpEeOoRrYy" else text)
    if len(kept) > 1 and kept[-1].endswith((":", ":**")):  # only the last sentence can end so
        kept.pop()
    found: list[str] = []
    passage = ""
    for sentence in kept:
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


def _without_filler(text: str) -> list[str]:
    """Return the sentences of *text* that are not filler."""
    every = sentences(text)
    if (
        " let me " in text
        or ("," in text and ", I'll " in text)
        or "*" in text
        or "_" in text
        or text.endswith(":")
    ):
        return [one for one in every if not _is_filler(one)]
    # All other filler is recognised by its first letters.
    return [one for one in every if one[:3] not in FILLER_STARTS or not _starts_as_filler(one)]


def _is_filler(sentence: str) -> bool:
    """Return True if a sentence only announces, comments or introduces."""
    bare = sentence[:24].lstrip("*_") if sentence[0] in "*_" else sentence
    if bare[:3] in FILLER_STARTS and _starts_as_filler(bare):
        return True
    if " let me " in sentence or ", I'll " in sentence:
        return True
    return sentence.endswith((":", ":**")) and len(sentence) < MAX_LEAD_CHARACTERS


def _starts_as_filler(sentence: str) -> bool:
    return sentence[:24].lower().startswith(FILLERS)
