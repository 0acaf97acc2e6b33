"""Which session each project's handoff.yaml shows, and which of its values flowd itself wrote."""

import os

import msgspec

from flowd.store.database import Database
from flowd.workspace.project import FOLDER


class HandoffYamlState(msgspec.Struct, frozen=True):
    """What was last put into one handoff.yaml.

    ``written`` keeps the latest values per field, not the last alone: a value noted here may never have
    reached the file, by a crash or a folder that refuses, and what stands there is still flowd's own.
    """

    project: str
    session_id: str = ""
    last_activity_at: float = 0.0
    written: dict[str, tuple[str, ...]] = {}
    folder: str = ""

    def is_ours(self, field: str, value: object) -> bool:
        """Say whether *value* is one that flowd wrote into *field*."""
        return value in self.written.get(field, ())


class HandoffYamlStates:
    """The table flow_handoffs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: str) -> HandoffYamlState:
        """Return what is known of *project*'s handoff.yaml."""
        with self._database.reading() as connection:
            row = connection.execute(
                "select session_id, last_activity_at, written, folder from flow_handoffs where project = ?",
                (project,),
            ).fetchone()
        if row is None:
            return HandoffYamlState(project)
        written = msgspec.json.decode(row[2], type=dict[str, tuple[str, ...]])
        return HandoffYamlState(project, row[0], row[1], written, row[3] or "")

    def put(self, *handoffs: HandoffYamlState) -> None:
        """Remember *handoffs*."""
        rows = [
            (
                shown.project,
                shown.session_id,
                shown.last_activity_at,
                msgspec.json.encode(shown.written).decode(),
                shown.folder,
            )
            for shown in handoffs
        ]
        with self._database.transaction() as connection:
            connection.executemany(
                "insert or replace into flow_handoffs "
                "(project, session_id, last_activity_at, written, folder) values (?, ?, ?, ?, ?)",
                rows,
            )


def folder_identity(project: str) -> str:
    """Return what tells the .flow-guardian of *project* from any other, empty when there is none."""
    try:
        status = os.lstat(os.path.join(project, FOLDER))
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
