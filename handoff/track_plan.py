"""What a track's plan.md says about its progress: checkboxes, counted as a whole and by phase."""

import re
from typing import NamedTuple

_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[(?P<mark>[ xX~!])\](?:\s|$)")
_HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<title>.+?)\s*#*\s*$")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_EPIC = re.compile(r"\b(?:E(?P<short>\d+)|[Ee]pic\s+(?P<long>\d+))\b")


class Phase(NamedTuple):
    """The checkboxes below one heading."""

    title: str
    done: int
    total: int

    @property
    def is_closed(self) -> bool:
        """Whether it has checkboxes and all are done."""
        return self.total > 0 and self.done == self.total

    @property
    def epic(self) -> str:
        """The epic that the heading names, such as ``E1``; empty where it names none."""
        found = _EPIC.search(self.title)
        return f"E{found['short'] or found['long']}" if found else ""


class Plan(NamedTuple):
    """A plan's phases, in order; only those with checkboxes count."""

    phases: tuple[Phase, ...] = ()

    @property
    def done(self) -> int:
        """How many checkboxes are done."""
        return sum(phase.done for phase in self.phases)

    @property
    def total(self) -> int:
        """How many checkboxes there are."""
        return sum(phase.total for phase in self.phases)

    @property
    def current(self) -> Phase | None:
        """The first phase that is not closed, else the last one."""
        unfinished = (phase for phase in self.phases if not phase.is_closed)
        return next(unfinished, self.phases[-1] if self.phases else None)

    @property
    def labels(self) -> dict[str, Phase]:
        """The phases by a short name each: the epic that the heading names, else ``P`` and the number."""
        return {phase.epic or f"P{number}": phase for number, phase in enumerate(self.phases, 1)}

    @property
    def closed(self) -> frozenset[str]:
        """The short names of the phases that are closed."""
        return frozenset(label for label, phase in self.labels.items() if phase.is_closed)


def percent(done: int, total: int) -> int:
    """Return *done* of *total* in whole percent; nothing of nothing is 0."""
    return min(100, done * 100 // total) if total > 0 else 0


def read_plan(text: str) -> Plan:
    """Return the phases of *text*; checkboxes in fenced examples are not counted."""
    phases: list[Phase] = []
    title, is_fenced = "", False
    for line in text.splitlines():
        is_fenced ^= _FENCE.match(line) is not None
        if is_fenced:
            continue
        if heading := _HEADING.match(line):
            title = heading["title"]
        elif box := _BOX.match(line):
            _count(phases, title, is_done=box["mark"] in "xX")
    return Plan(tuple(phases))


def _count(phases: list[Phase], title: str, *, is_done: bool) -> None:
    if not phases or phases[-1].title != title:
        phases.append(Phase(title, 0, 0))
    last = phases[-1]
    phases[-1] = Phase(title, last.done + is_done, last.total + 1)
