"""The knowledge graph: blocks with full weight, insights and decisions of sessions with less."""

import sqlite3

from flowd.model.block import stable_id
from flowd.model.facts import BlockFound, Fact, HandoffIndexed, StateChanged
from flowd.model.session import SessionState
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.store.knowledge.findings import findings_digest, keep_insights
from flowd.store.knowledge.graph import (
    IMPORT_WEIGHT,
    Mention,
    NodeType,
    Provenance,
    add_mentions,
    withdraw,
)
from flowd.store.knowledge.intake import block_errors, keep_block
from flowd.store.trust import granted_trust
from flowd.system.errors import StoreError

MAX_REMEMBERED = 2000
# Few transactions, but short enough to let other writers in between.
SESSIONS_PER_TRANSACTION = 50


class KnowledgeSink:
    """Applies each block once, and findings of sessions when they change; ``detail`` names block errors."""

    name = "knowledge"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self.detail = ""
        self._pending: dict[str, SessionState] = {}
        self._digests: dict[str, int] = {}
        self._connection: sqlite3.Connection | None = None

    def key(self, fact: Fact) -> str | None:
        """Return the block's own key, since every block counts, or the session of a state with findings."""
        if isinstance(fact.body, BlockFound):
            return fact.key
        if isinstance(fact.body, HandoffIndexed) and fact.project and not fact.body.is_auto:
            return fact.key
        if isinstance(fact.body, StateChanged) and (fact.body.state.insights or fact.body.state.decisions):
            return f"insights:{fact.session_id}"
        return None

    def accept(self, fact: Fact) -> None:
        """Write a block in its own transaction; keep a session's findings until ``flush``."""
        if isinstance(fact.body, BlockFound):
            self._keep_block(fact, fact.body)
        elif isinstance(fact.body, HandoffIndexed) and not fact.body.is_auto:
            self._keep_document(fact, fact.body)
        elif isinstance(fact.body, StateChanged) and self._has_changed(fact.body.state):
            self._pending[fact.body.state.session_id] = fact.body.state

    def _keep_document(self, fact: Fact, body: HandoffIndexed) -> None:
        source = f"handoff:{body.path}"
        origin = Provenance(project=fact.project, session_id=fact.session_id, file=body.path, at=fact.at)
        found: list[tuple[NodeType, tuple[str, ...]]] = [
            ("gotcha", (*body.gotchas, *body.risks)),
            ("step", body.open_items),
            ("decision", body.decisions),
        ]
        with self._database.transaction() as connection:
            withdraw(connection, source)
            add_mentions(
                connection,
                [
                    Mention(
                        source=source,
                        node=stable_id(kind, text),
                        type=kind,
                        summary=text,
                        provenance=origin,
                        weight=IMPORT_WEIGHT,
                    )
                    for kind, texts in found
                    for text in texts
                ],
            )

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
            kept = keep_block(self._database, body.found, _origin(fact, body), accepted=trust.words)
            if kept == "invalid" or self.detail:
                self.detail = _described(block_errors(self._database))
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


def _described(errors: list[str]) -> str:
    if not errors:
        return ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"invalid block: {errors[0]}{more}; see `flow block validate`"


def _origin(fact: Fact, body: BlockFound) -> Provenance:
    root = f"{fact.project}/"
    return Provenance(
        project=fact.project,
        session_id=fact.session_id,
        record=body.record,
        file=body.file.removeprefix(root) if fact.project else body.file,
        at=fact.at,
    )
