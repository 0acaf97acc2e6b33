"""The knowledge graph follows the facts: blocks in full, insights and decisions as the lighter part."""

from flowd.store.database import Database
from flowd.store.facts import BlockFound, Fact, StateChanged
from flowd.store.knowledge import Provenance
from flowd.store.knowledge_blocks import keep_block
from flowd.store.knowledge_insights import keep_insights


class Knowledge:
    """Applies each block once, and each session's findings as they come."""

    name = "knowledge"
    debounce_s = 5.0
    is_prompt = False

    def __init__(self, database: Database) -> None:
        self._database = database

    def key(self, fact: Fact) -> str | None:
        """Return the block's own key, for none may be left out, or the session whose state it is."""
        if isinstance(fact.body, BlockFound):
            return fact.key
        if isinstance(fact.body, StateChanged) and (fact.body.state.insights or fact.body.state.decisions):
            return f"insights:{fact.session_id}"
        return None

    def accept(self, fact: Fact) -> None:
        """Write it, in a transaction of its own; the second time nothing changes."""
        if isinstance(fact.body, BlockFound):
            keep_block(self._database, fact.body.found, _place(fact, fact.body))
        elif isinstance(fact.body, StateChanged):
            keep_insights(self._database, fact.body.state)

    def flush(self) -> None:
        """Do nothing: what was accepted is written."""


def _place(fact: Fact, body: BlockFound) -> Provenance:
    root = f"{fact.project}/"
    return Provenance(
        project=fact.project,
        session_id=fact.session_id,
        record=body.record,
        file=body.file.removeprefix(root) if fact.project else body.file,
        at=fact.at,
    )
