"""core.db's own projection: one row per session, for status, ``flow`` and other programs to read."""

import sqlite3

import msgspec

from flowd.model.facts import Fact, StateChanged
from flowd.model.session import SessionState
from flowd.store.database import Database

_UPSERT = """
insert into flow_sessions (session_id, project, repository, worktree, branch, title, client, started_at,
    last_activity_at, ended_at, compacted_at, compactions, vanished_at, state, seq)
values (:session_id, :project, :repository, :worktree, :branch, :title, :client, :started_at,
    :last_activity_at, :ended_at, :compacted_at, :compactions, :vanished_at, :state, :seq)
on conflict(session_id) do update set
    project = excluded.project, repository = excluded.repository, worktree = excluded.worktree,
    branch = excluded.branch, title = excluded.title, client = excluded.client,
    started_at = excluded.started_at, last_activity_at = excluded.last_activity_at,
    ended_at = excluded.ended_at, compacted_at = excluded.compacted_at,
    compactions = excluded.compactions, vanished_at = excluded.vanished_at,
    state = excluded.state, seq = excluded.seq
where excluded.seq >= flow_sessions.seq
"""
_COLUMNS = (
    "session_id project repository worktree branch title client started_at last_activity_at ended_at "
    "compacted_at compactions vanished_at".split()
)


class CoreDbSink:
    """Keeps flow_sessions at the newest state of each session."""

    name = "core_db"
    debounce_s = 0.0
    low_latency = False

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: list[dict[str, object]] = []

    def key(self, fact: Fact) -> str | None:
        """Return the session: its newest state stands for all before."""
        return fact.session_id if isinstance(fact.body, StateChanged) else None

    def accept(self, fact: Fact) -> None:
        """Hold the row until ``flush``, which writes all of them in one transaction."""
        if isinstance(fact.body, StateChanged):
            self._rows.append(_row(fact.body.state, fact.seq))

    def flush(self) -> None:
        """Write the held rows."""
        rows, self._rows = self._rows, []
        with self._database.transaction() as connection:
            _write(connection, rows)


def _row(state: SessionState, seq: int) -> dict[str, object]:
    row: dict[str, object] = {column: getattr(state, column) for column in _COLUMNS}
    return row | {"state": msgspec.json.encode(state).decode(), "seq": seq}


def _write(connection: sqlite3.Connection, rows: list[dict[str, object]]) -> None:
    connection.executemany(_UPSERT, rows)
