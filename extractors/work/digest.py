"""Summarise the sessions of a work in a few lines: those that together cover most of it."""

from collections import Counter
from math import sqrt
from typing import NamedTuple

from flowd.extractors.work.likeness import NAME_WEIGHT, covered, terms
from flowd.extractors.work.lines import Heading, lines_of
from flowd.model.work import Contribution, Work

LINE_OVERHEAD = 3
# At this share of common terms a line repeats another and is dropped.
SAME_LINE = 0.75
# A later session outweighs an earlier one, but what only an earlier one knows still gets its place.
FADING = 0.85
MIN_FADING = 0.45
WEIGHT: dict[Heading, float] = {"asked": 1.3, "done": 1.0, "decided": 1.1, "learned": 0.9}
PROSE_WEIGHT = 0.35
# Terms of the person's requests weigh more than those of replies.
PERSONS = 1.5


class Line(NamedTuple):
    """One candidate line of the digest, under its heading; *age* counts the sessions since."""

    heading: Heading
    text: str
    age: int
    order: int


def digest(work: Work, contributions: list[Contribution], room_bytes: int, shown: str = "") -> list[Line]:
    """Return the lines worth *room_bytes*, in reading order; *shown* is what the session gets anyway."""
    lines = _lines(contributions)
    weights = _weights(lines, contributions)
    known = set(terms(shown))
    chosen: list[Line] = []
    left = [(line, terms(line.text)) for line in lines]
    while left:
        line, found = max(left, key=lambda pair: _gain(pair[0], pair[1], weights, known))
        left.remove((line, found))
        cost = len(line.text.encode()) + LINE_OVERHEAD
        if _gain(line, found, weights, known) <= 0:
            break
        told = [shown, *(other.text for other in chosen)]
        if cost > room_bytes or any(covered(line.text, text) >= SAME_LINE for text in told):
            continue
        chosen.append(line)
        known.update(found)
        room_bytes -= cost
    return sorted(chosen, key=lambda line: line.order)


def _lines(contributions: list[Contribution]) -> list[Line]:
    """Return every candidate line, the latest session first."""
    lines: list[Line] = []
    for age, given in enumerate(sorted(contributions, key=lambda one: -one.last_activity_at)):
        lines += [Line(heading, text, age, 0) for heading, text in lines_of(given)]
    return [line._replace(order=order) for order, line in enumerate(lines)]


def _weights(lines: list[Line], contributions: list[Contribution]) -> dict[str, float]:
    """Return the weight of each term: by the number of lines that contain it; names of the code most."""
    counts: Counter[str] = Counter()
    kinds: dict[str, float] = {}
    for line in lines:
        found = terms(line.text)
        counts.update(found.keys())
        kinds.update(found)
    asked = set(terms(" ".join(one.request for given in contributions for one in given.evidence.turns)))
    return {
        term: sqrt(count)
        * (1.0 if kinds[term] == NAME_WEIGHT else PROSE_WEIGHT * kinds[term])
        * (PERSONS if term in asked else 1.0)
        for term, count in counts.items()
    }


def _gain(line: Line, found: dict[str, float], weights: dict[str, float], known: set[str]) -> float:
    """Return what *line* adds to what is *known*, per byte."""
    new = sum(weights.get(term, 0.0) for term in found if term not in known)
    fading = max(MIN_FADING, FADING**line.age)
    return new * fading * WEIGHT[line.heading] / sqrt(len(line.text) + 40)
