"""Handoff documents in core.db: what each says, where it came from, and which flowd wrote itself."""

import time

from flowd.handoff.contract_index import Shelved
from flowd.handoff.redaction import redact
from flowd.store.facts import Fact, HandoffMoved, HandoffResumed, HandoffTaken, HandoffWritten, SessionState
from flowd.store.handoff_ownership import may_be_of
from flowd.store.journal import Journal

ITEMS_KEPT = 20
UNOWNED_SEEN = 50


def taken_fact(shelved: Shelved, project: str) -> Fact:
    """Return the fact that a handoff lies there; a newer look at the same file replaces it."""
    file, document = shelved.file, shelved.document
    body = HandoffTaken(
        path=file.path,
        modified_ns=file.modified_ns,
        size=file.size,
        purpose=redact(document.purpose),
        trigger=redact(document.trigger),
        is_auto=document.is_auto,
        open_items=tuple(map(redact, document.open_items[:ITEMS_KEPT])),
        escalations=tuple(map(redact, document.escalations)),
    )
    return Fact(f"handoff:{file.path}", redact(document.session_id), project, file.modified_at, body)


def written_fact(journal: Journal, path: str, digest: str, state: SessionState) -> Fact:
    """Return the fact that flowd itself is about to write the automatic handoff at *path*."""
    body = HandoffWritten(path, (digest, *_own_digests(journal, path)[:1]))
    return Fact(f"handoff-written:{path}", state.session_id, state.project, time.time(), body)


def moved_fact(path: str, from_directory: str) -> Fact:
    """Return the fact that the handoff at *path* was migrated from *from_directory*."""
    return Fact(f"handoff-moved:{path}", "", "", time.time(), HandoffMoved(path, from_directory))


def resumed_fact(path: str, session_id: str, project: str) -> Fact:
    """Return the fact that *session_id* took up what the handoff at *path* describes."""
    now = time.time()
    return Fact(f"handoff-resumed:{path}:{now}", session_id, project, now, HandoffResumed(path))


def is_own(journal: Journal, shelved: Shelved) -> bool:
    """Say whether flowd wrote this handoff by itself and nobody has edited it since."""
    return shelved.document.is_auto and shelved.digest in _own_digests(journal, shelved.file.path)


def latest_of_project(journal: Journal, root: str) -> HandoffTaken | None:
    """Return the newest handoff known of the project at *root*."""
    facts = journal.facts_of_project(root, "handoff", 1) + journal.facts_of_project(
        "", "handoff", UNOWNED_SEEN
    )
    taken = [
        fact.body
        for fact in facts
        if isinstance(fact.body, HandoffTaken) and may_be_of(root, fact.project, fact.body.path)
    ]
    return max(taken, key=lambda body: body.modified_ns, default=None)


def _own_digests(journal: Journal, path: str) -> tuple[str, ...]:
    fact = journal.fact(f"handoff-written:{path}")
    return fact.body.digests if fact and isinstance(fact.body, HandoffWritten) else ()
