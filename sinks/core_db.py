"""core.db: the table flow_sessions follows the states of the sessions (see store/sessions.py)."""

from flowd.model.facts import Fact, StateChanged
from flowd.store.database import Database
from flowd.store.sessions import SINK, SessionRow, put_sessions


class CoreDbSink:
    """Keeps one row per session in flow_sessions."""

    name = SINK
    debounce_s = 0.0
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pending: list[SessionRow] = []

    def key(self, fact: Fact) -> str | None:
        """Return the session of a state: its newest state replaces all before it."""
        return fact.session_id if isinstance(fact.body, StateChanged) else None

    def accept(self, fact: Fact) -> None:
        """Keep the row until ``flush``, which writes all rows in one transaction."""
        if isinstance(fact.body, StateChanged):
            self._pending.append(SessionRow(fact.body.state, fact.seq))

    def flush(self) -> None:
        """Write the pending rows."""
        rows, self._pending = self._pending, []
        with self._database.transaction() as connection:
            put_sessions(connection, rows)
