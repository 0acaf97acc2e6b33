"""Which session each handoff.yaml shows, and which of its values flowd wrote."""

import os
from collections.abc import Mapping

import msgspec

from flowd.store.database import Database
from flowd.workspace.project import FOLDER

VALUES_KEPT = 16


class HandoffYamlState(msgspec.Struct, frozen=True):
    """The values that flowd wrote into one handoff.yaml.

    ``written`` keeps several values per field, not only the last: a value is recorded before it is
    written, and after a crash the file may still hold an older one, which is flowd's as well.
    """

    project: str
    session_id: str = ""
    last_activity_at: float = 0.0
    written: dict[str, tuple[str, ...]] = {}
    folder: str = ""
    work: str = ""

    def is_ours(self, field: str, value: object) -> bool:
        """Return True if flowd wrote *value* into *field*."""
        return value in self.written.get(field, ())

    def with_written(self, values: Mapping[str, str]) -> "HandoffYamlState":
        """Return this state with *values* recorded as flowd's own, the latest of each field first."""
        written = dict(self.written)
        for field, value in values.items():
            known = written.get(field, ())
            if value and value not in known[:1]:
                written[field] = (value, *(old for old in known if old != value))[:VALUES_KEPT]
        return msgspec.structs.replace(self, written=written)


class HandoffYamlStates:
    """The table flow_handoffs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: str) -> HandoffYamlState:
        """Return the stored state of *project*'s handoff.yaml, an empty one if there is none."""
        with self._database.reading() as connection:
            row = connection.execute(
                "select session_id, last_activity_at, written, folder, work from flow_handoffs "
                "where project = ?",
                (project,),
            ).fetchone()
        if row is None:
            return HandoffYamlState(project)
        written = msgspec.json.decode(row[2], type=dict[str, tuple[str, ...]])
        return HandoffYamlState(project, row[0], row[1], written, row[3] or "", row[4] or "")

    def put(self, *states: HandoffYamlState) -> None:
        """Store *states*."""
        rows = [
            (
                state.project,
                state.session_id,
                state.last_activity_at,
                msgspec.json.encode(state.written).decode(),
                state.folder,
                state.work,
            )
            for state in states
        ]
        with self._database.transaction() as connection:
            connection.executemany(
                "insert or replace into flow_handoffs "
                "(project, session_id, last_activity_at, written, folder, work) values (?, ?, ?, ?, ?, ?)",
                rows,
            )

    def claim_folder(self, project: str) -> None:
        """Record that flowd created the .flow-guardian of *project*: its fields count as this user's."""
        self.put(msgspec.structs.replace(self.get(project), folder=folder_identity(project)))


def folder_identity(project: str) -> str:
    """Return device and inode of *project*'s .flow-guardian, empty if there is none."""
    try:
        status = os.lstat(os.path.join(project, FOLDER))
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
