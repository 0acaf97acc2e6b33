"""The knowledge graph: blocks with full weight, insights and decisions of sessions with less."""

import sqlite3

from flowd.model.facts import BlockFound, Fact, StateChanged
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.store.knowledge.findings import findings_digest, keep_insights
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.store.trust import granted_trust
from flowd.system.errors import StoreError

MAX_REMEMBERED = 2000
# Few transactions, but short enough to let other writers in between.
SESSIONS_PER_TRANSACTION = 50


class KnowledgeSink:
    """Applies each block once, and each session's findings when they change."""

    name = "knowledge"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: dict[str, SessionState] = {}
        self._digests: dict[str, int] = {}
        self._connection: sqlite3.Connection | None = None

    def key(self, fact: Fact) -> str | None:
        """Return the block's own key, since every block counts, or the session of a state with findings."""
        if isinstance(fact.body, BlockFound):
            return fact.key
        if isinstance(fact.body, StateChanged) and (fact.body.state.insights or fact.body.state.decisions):
            return f"insights:{fact.session_id}"
        return None

    def accept(self, fact: Fact) -> None:
        """Write a block in its own transaction; keep a session's findings until ``flush``."""
        if isinstance(fact.body, BlockFound):
            self._keep_block(fact, fact.body)
        elif isinstance(fact.body, StateChanged) and self._has_changed(fact.body.state):
            self._pending[fact.body.state.session_id] = fact.body.state

    def flush(self) -> None:
        """Write the pending findings, many sessions in one transaction."""
        states, self._pending = list(self._pending.values()), {}
        for start in range(0, len(states), SESSIONS_PER_TRANSACTION):
            keep_insights(self._database, *states[start : start + SESSIONS_PER_TRANSACTION])
        for state in states:
            self._remember(state)

    def _keep_block(self, fact: Fact, body: BlockFound) -> None:
        try:
            trust = granted_trust(Journal(self._database), fact.project)
            keep_block(self._database, body.found, _origin(fact, body), accepted=trust.words)
        except StoreError:  # all facts come again, perhaps for another core.db
            self._pending.clear()
            raise

    def _has_changed(self, state: SessionState) -> bool:
        connection = self._database.connection()
        if connection is not self._connection:  # a new connection may have opened another core.db
            self._digests.clear()
            self._connection = connection
        return self._digests.get(state.session_id) != findings_digest(state)

    def _remember(self, state: SessionState) -> None:
        self._digests.pop(state.session_id, None)
        self._digests[state.session_id] = findings_digest(state)
        if len(self._digests) > MAX_REMEMBERED:
            del self._digests[next(iter(self._digests))]


def _origin(fact: Fact, body: BlockFound) -> Provenance:
    root = f"{fact.project}/"
    return Provenance(
        project=fact.project,
        session_id=fact.session_id,
        record=body.record,
        file=body.file.removeprefix(root) if fact.project else body.file,
        at=fact.at,
    )
