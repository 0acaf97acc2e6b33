"""What handoffs ask a person for, until one has seen it."""

import time
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from flowd.handoff.contract_index import Shelved
from flowd.handoff.redaction import redact
from flowd.store.facts import Acknowledged, Fact, HandoffTaken
from flowd.store.handoff_ownership import may_be_of
from flowd.store.journal import Journal


class Escalation(NamedTuple):
    """A handoff asks for a person, and none has answered."""

    project: str
    path: str
    reason: str


def open_escalations(journal: Journal) -> list[Escalation]:
    """Return the escalations that no person has acknowledged, those of the newest handoff first."""
    seen = {
        fact.body.path: Counter(fact.body.reasons)
        for fact in journal.facts_of_kind("acknowledged")
        if isinstance(fact.body, Acknowledged)
    }
    return [
        Escalation(fact.project, fact.body.path, reason)
        for fact in journal.facts_of_kind("handoff")
        if isinstance(fact.body, HandoffTaken)
        for reason in (Counter(fact.body.escalations) - seen.get(fact.body.path, Counter())).elements()
    ]


def of_project(escalations: Iterable[Escalation], root: str) -> list[Escalation]:
    """Return those of *escalations* that are the project's, or lie where its handoffs do and name none."""
    return [found for found in escalations if may_be_of(root, found.project, found.path)]


def acknowledging_facts(journal: Journal, escalations: Iterable[Escalation]) -> list[Fact]:
    """Return the facts by which a person has seen *escalations*; earlier ones stay seen."""
    facts = []
    for path, project in {found.path: found.project for found in escalations}.items():
        fact = journal.fact(f"handoff:{path}")
        reasons = fact.body.escalations if fact and isinstance(fact.body, HandoffTaken) else ()
        body = Acknowledged(path, reasons)
        facts.append(Fact(f"acknowledged:{path}", "", project, time.time(), body))
    return facts


def unseen_escalations(journal: Journal, shelved: Shelved) -> bool:
    """Say whether a handoff asks for a person and none has acknowledged it."""
    fact = journal.fact(f"acknowledged:{shelved.file.path}")
    seen = Counter(fact.body.reasons) if fact and isinstance(fact.body, Acknowledged) else Counter()
    return bool(Counter(map(redact, shelved.document.escalations)) - seen)
