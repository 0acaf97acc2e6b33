"""The tables with one row per session: flow_sessions (last state) and flow_idle (last activity)."""

import sqlite3
from collections.abc import Iterable

import msgspec

from flowd.model.session import SessionState
from flowd.store.database import Database

SINK = "core_db"
COLUMNS = (
    *("session_id", "project", "repository", "worktree", "branch", "title", "client", "started_at"),
    *("last_activity_at", "ended_at", "compacted_at", "compactions", "vanished_at"),
)
_ALL = (*COLUMNS, "seq")
_UPSERT = f"""
insert into flow_sessions ({", ".join(_ALL)}) values ({", ".join(f":{name}" for name in _ALL)})
on conflict(session_id) do update set {", ".join(f"{name} = excluded.{name}" for name in _ALL[1:])}
where excluded.seq >= flow_sessions.seq
"""  # noqa: S608 constants

# The condition on a row of flow_facts. The project is compared again: a session may have moved since.
OF_PROJECT = f"""
seq in (
    select seq from flow_facts where key in (
        select 'state:' || session_id from flow_sessions where project = :project
        union select 'state:' || session_id from flow_sessions where repository = :repository)
    union select seq from flow_facts where kind = 'state'
        and seq > (select coalesce(max(cursor), 0) from flow_sinks where name = '{SINK}')
) and (project = :project or json_extract(body, '$.state.repository') = :repository)
"""  # noqa: S608 constants


class SessionRow(msgspec.Struct, frozen=True):
    """The state of a session as of the fact *seq*."""

    state: SessionState
    seq: int


def put_sessions(connection: sqlite3.Connection, rows: Iterable[SessionRow]) -> None:
    """Write *rows*; one that is older than the row in the table changes nothing."""
    connection.executemany(_UPSERT, [_values(row) for row in rows])


def _values(row: SessionRow) -> dict[str, object]:
    return {name: getattr(row.state, name) for name in COLUMNS} | {"seq": row.seq}


class Pause(msgspec.Struct, frozen=True):
    """A session that has been quiet since ``last_activity_at``."""

    session_id: str
    project: str
    last_activity_at: float


class IdleTable:
    """The table flow_idle. Each pause is reported once; new activity starts a new pause."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, pauses: list[Pause]) -> None:
        """Record the last activity of each session; it never moves backwards."""
        with self._database.transaction() as connection:
            connection.executemany(
                "insert into flow_idle (session_id, project, last_activity_at, told_at) "
                "values (?, ?, ?, 0) on conflict(session_id) do update set "
                "project = excluded.project, "
                "last_activity_at = max(last_activity_at, excluded.last_activity_at)",
                [(pause.session_id, pause.project, pause.last_activity_at) for pause in pauses],
            )

    def unreported(self, since: float) -> list[Pause]:
        """Return the unreported pauses that began after *since*, longest first."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select session_id, project, last_activity_at from flow_idle "
                "where last_activity_at > told_at and last_activity_at > ? order by last_activity_at",
                (since,),
            ).fetchall()
        return [Pause(*row) for row in rows]

    def mark_reported(self, pause: Pause) -> None:
        """Record that *pause* was reported."""
        with self._database.transaction() as connection:
            connection.execute(
                "update flow_idle set told_at = ? where session_id = ?",
                (pause.last_activity_at, pause.session_id),
            )
