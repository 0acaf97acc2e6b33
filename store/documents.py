"""Markdown handoffs in core.db: their content, owner and origin, and their escalations."""

import os
import time
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from flowd.handoff.markdown.directory import encode_path, encode_path_v1
from flowd.handoff.markdown.document import DECIDED, Document, Kind
from flowd.handoff.markdown.index import ParsedHandoff
from flowd.model.facts import (
    Acknowledged,
    Fact,
    HandoffIndexed,
    HandoffMoved,
    HandoffResumed,
    HandoffWritten,
    StateChanged,
)
from flowd.model.session import SessionState
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.store.journal import Journal


class Ownership:
    """Finds the project of a handoff when the directory names of several projects are equal.

    Create one per operation: it caches the known projects.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._projects: dict[str, list[str]] | None = None

    def owner(self, path: str, document: Document) -> str:
        """Return the project that *document* names, else the only candidate, else ``""``."""
        candidates = self._candidates(path)
        return self._named(path, document) or (candidates[0] if len(candidates) == 1 else "")

    def is_foreign(self, root: str, path: str, document: Document) -> bool:
        """Return True if *document*, found in the directory of *root*, belongs to another project."""
        before = self._moved_from(path)
        if before:
            return before not in (encode_path_v1(root), encode_path(root))
        owner = self._named(path, document)
        # A working directory inside the project belongs to the project as well.
        return bool(owner) and owner != root and not owner.startswith(root + "/")

    def rivals(self, root: str, path: str, document: Document) -> list[str]:
        """Return the other known projects that *document* could belong to."""
        if self._named(path, document):
            return []
        return [project for project in self._candidates(path) if project != root]

    def _named(self, path: str, document: Document) -> str:
        """Return the project that *document* names, else the one of its session, else ``""``."""
        name = os.path.basename(os.path.dirname(path))
        # A document that names its project may be in the directory of a place below it.
        if document.project and name.startswith(encode_path(document.project) + "-"):
            return document.project
        for project, place in ((document.project, document.project), *self._session(document.session_id)):
            if place and name in (encode_path(place), encode_path_v1(place)):
                return project
        return ""

    def _session(self, session_id: str) -> list[tuple[str, str]]:
        fact = self._journal.fact(f"state:{session_id}") if session_id else None
        if fact is None or not isinstance(fact.body, StateChanged):
            return []
        state = fact.body.state
        return [(state.project, state.project), (state.project, state.cwd)]

    def _candidates(self, path: str) -> list[str]:
        """Return the known projects whose handoff directory is that of *path*."""
        if self._projects is None:
            self._projects = {}
            for project in self._journal.projects():
                self._projects.setdefault(encode_path(project), []).append(project)
        before = self._moved_from(path)
        known = self._projects.get(os.path.basename(os.path.dirname(path)), [])
        return [project for project in known if not before or encode_path_v1(project) == before]

    def _moved_from(self, path: str) -> str:
        fact = self._journal.fact(f"handoff-moved:{path}")
        return fact.body.from_directory if fact and isinstance(fact.body, HandoffMoved) else ""


def may_be_of(root: str, project: str, path: str) -> bool:
    """Return True if a handoff belongs to *root*, or names no project and is in its directory."""
    return project == root or (not project and os.path.basename(os.path.dirname(path)) == encode_path(root))


MAX_ITEMS = 20
MAX_UNOWNED = 50


def indexed_fact(handoff: ParsedHandoff, project: str, redact: Redact = redact) -> Fact:
    """Return the fact that describes a handoff file; a newer one of the same file replaces it."""
    file, document = handoff.file, handoff.document
    body = HandoffIndexed(
        path=file.path,
        modified_ns=file.modified_ns,
        size=file.size,
        purpose=redact(document.purpose),
        trigger=redact(document.trigger),
        is_auto=document.is_auto,
        open_items=tuple(map(redact, document.open_items[:MAX_ITEMS])),
        escalations=tuple(map(redact, document.escalations)),
        gotchas=_redacted(document, redact, "gotchas"),
        risks=_redacted(document, redact, "risks"),
        decisions=_decisions(document, redact),
    )
    return Fact(f"handoff:{file.path}", redact(document.session_id), project, file.modified_at, body)


def _redacted(document: Document, redact: Redact, *kinds: Kind) -> tuple[str, ...]:
    return tuple(redact(item.text) for item in document.items(*kinds)[:MAX_ITEMS])


def _decisions(document: Document, redact: Redact) -> tuple[str, ...]:
    decided = [text for text in _redacted(document, redact, "reflection") if text.startswith(DECIDED)]
    return (*_redacted(document, redact, "decisions"), *(text.removeprefix(DECIDED) for text in decided))


def written_fact(journal: Journal, path: str, digest: str, state: SessionState) -> Fact:
    """Return the fact that flowd is about to write the automatic handoff at *path*."""
    body = HandoffWritten(path, (digest, *_own_digests(journal, path)[:1]))
    return Fact(f"handoff-written:{path}", state.session_id, state.project, time.time(), body)


def moved_fact(path: str, from_directory: str) -> Fact:
    """Return the fact that the handoff at *path* was migrated from *from_directory*."""
    return Fact(f"handoff-moved:{path}", "", "", time.time(), HandoffMoved(path, from_directory))


def resumed_fact(path: str, session_id: str, project: str) -> Fact:
    """Return the fact that *session_id* resumed the handoff at *path*."""
    now = time.time()
    return Fact(f"handoff-resumed:{path}:{now}", session_id, project, now, HandoffResumed(path))


def is_own(journal: Journal, handoff: ParsedHandoff) -> bool:
    """Return True if flowd wrote this handoff and nobody has edited it since."""
    return handoff.document.is_auto and handoff.digest in _own_digests(journal, handoff.file.path)


def latest_of_project(journal: Journal, root: str) -> HandoffIndexed | None:
    """Return the newest known handoff of the project at *root*."""
    facts = journal.facts_of_project(root, "handoff", 1) + journal.facts_of_project(
        "", "handoff", MAX_UNOWNED
    )
    candidates = [
        fact.body
        for fact in facts
        if isinstance(fact.body, HandoffIndexed) and may_be_of(root, fact.project, fact.body.path)
    ]
    return max(candidates, key=lambda body: body.modified_ns, default=None)


def _own_digests(journal: Journal, path: str) -> tuple[str, ...]:
    fact = journal.fact(f"handoff-written:{path}")
    return fact.body.digests if fact and isinstance(fact.body, HandoffWritten) else ()


class Escalation(NamedTuple):
    """An escalation in a handoff that nobody has acknowledged."""

    project: str
    path: str
    reason: str


def open_escalations(journal: Journal) -> list[Escalation]:
    """Return the escalations that nobody has acknowledged, the newest first, of files that still exist."""
    seen = {
        fact.body.path: Counter(fact.body.reasons)
        for fact in journal.facts_of_kind("acknowledged")
        if isinstance(fact.body, Acknowledged)
    }
    return [
        Escalation(fact.project, fact.body.path, reason)
        for fact in journal.facts_of_kind("handoff")
        if isinstance(fact.body, HandoffIndexed) and fact.body.escalations and os.path.lexists(fact.body.path)
        for reason in (Counter(fact.body.escalations) - seen.get(fact.body.path, Counter())).elements()
    ]


def of_project(escalations: Iterable[Escalation], root: str) -> list[Escalation]:
    """Return those of *escalations* that may belong to the project at *root*."""
    return [found for found in escalations if may_be_of(root, found.project, found.path)]


def acknowledging_facts(journal: Journal, escalations: Iterable[Escalation]) -> list[Fact]:
    """Return the facts that acknowledge *escalations*; earlier acknowledgements are kept."""
    facts = []
    for path, project in {found.path: found.project for found in escalations}.items():
        fact = journal.fact(f"handoff:{path}")
        reasons = fact.body.escalations if fact and isinstance(fact.body, HandoffIndexed) else ()
        body = Acknowledged(path, reasons)
        facts.append(Fact(f"acknowledged:{path}", "", project, time.time(), body))
    return facts


def unseen_escalations(journal: Journal, handoff: ParsedHandoff, redact: Redact = redact) -> bool:
    """Return True if a handoff has an escalation that nobody has acknowledged."""
    fact = journal.fact(f"acknowledged:{handoff.file.path}")
    seen = Counter(fact.body.reasons) if fact and isinstance(fact.body, Acknowledged) else Counter()
    return bool(Counter(map(redact, handoff.document.escalations)) - seen)
