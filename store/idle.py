"""The last activity of each session, and which pauses have been reported."""

import msgspec

from flowd.store.database import Database


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
