"""The knowledge graph follows the facts: blocks in full, insights and decisions as the lighter part."""

import sqlite3

from flowd.model.facts import BlockFound, Fact, StateChanged
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.knowledge.blocks import keep_block
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.insights import findings_digest, keep_insights
from flowd.system.errors import StoreError

SESSIONS_REMEMBERED = 2000
# A transaction is for many sessions, since each costs; but others want their turn at writing too.
SESSIONS_AT_ONCE = 50


class KnowledgeSink:
    """Applies each block once, and each session's findings as they come."""

    name = "knowledge"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, SessionState] = {}
        self._told: dict[str, int] = {}
        self._told_to: sqlite3.Connection | None = None

    def key(self, fact: Fact) -> str | None:
        """Return the block's own key, for none may be left out, or the session whose state it is."""
        if isinstance(fact.body, BlockFound):
            return fact.key
        if isinstance(fact.body, StateChanged) and (fact.body.state.insights or fact.body.state.decisions):
            return f"insights:{fact.session_id}"
        return None

    def accept(self, fact: Fact) -> None:
        """Write a block, in a transaction of its own, and note what a session found; twice is once."""
        if isinstance(fact.body, BlockFound):
            self._keep_block(fact, fact.body)
        elif isinstance(fact.body, StateChanged) and self._is_news(fact.body.state):
            self._waiting[fact.body.state.session_id] = fact.body.state

    def flush(self) -> None:
        """Write what the sessions found, those that were accepted together in one go."""
        states, self._waiting = list(self._waiting.values()), {}
        for start in range(0, len(states), SESSIONS_AT_ONCE):
            keep_insights(self._database, *states[start : start + SESSIONS_AT_ONCE])
        for state in states:
            self._remember(state)

    def _keep_block(self, fact: Fact, body: BlockFound) -> None:
        try:
            keep_block(self._database, body.found, _place(fact, body))
        except StoreError:  # all of it comes again, perhaps for another core.db
            self._waiting.clear()
            raise

    def _is_news(self, state: SessionState) -> bool:
        connection = self._database.connection()
        if connection is not self._told_to:  # another connection may be to another core.db
            self._told.clear()
            self._told_to = connection
        return self._told.get(state.session_id) != findings_digest(state)

    def _remember(self, state: SessionState) -> None:
        self._told.pop(state.session_id, None)
        self._told[state.session_id] = findings_digest(state)
        if len(self._told) > SESSIONS_REMEMBERED:
            del self._told[next(iter(self._told))]


def _place(fact: Fact, body: BlockFound) -> Provenance:
    root = f"{fact.project}/"
    return Provenance(
        project=fact.project,
        session_id=fact.session_id,
        record=body.record,
        file=body.file.removeprefix(root) if fact.project else body.file,
        at=fact.at,
    )
