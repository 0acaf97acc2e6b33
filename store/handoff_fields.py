"""The fields of each handoff.yaml: those flowd wrote, and those the user saved."""

import os
import sqlite3
import time
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from flowd.handoff.errors import HandoffError
from flowd.handoff.yaml.storage import read_stored
from flowd.model.facts import Fact, TrackBound, UserFieldsSaved
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.workspace.git import origin
from flowd.workspace.project import FOLDER

VALUES_KEPT = 16
# A user's value in these fields is kept; flowd fills them only if they are empty.
GUARDED = ("goal", "status", "hypothesis", "outcome")

RESET_BY_GOAL = ("status", "outcome")

UserFields = dict[str, str | list[str]]


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
    origin: str = ""

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

    def joined(self, stored: "HandoffYamlState") -> "HandoffYamlState":
        """Return this state with the values of *stored* that it does not have."""
        written = dict(self.written)
        for field, values in stored.written.items():
            known = written.get(field, ())
            written[field] = (*known, *(value for value in values if value not in known))[:VALUES_KEPT]
        return msgspec.structs.replace(self, written=written)


class HandoffYamlStates:
    """The table flow_handoffs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: str) -> HandoffYamlState:
        """Return the stored state of *project*'s handoff.yaml, an empty one if there is none."""
        with self._database.reading() as connection:
            state = _state_in(connection, project)
            return state if state.written else _copied_state(connection, project) or state

    def projects(self) -> list[str]:
        """Return every project whose handoff.yaml flowd has written or looked at."""
        with self._database.reading() as connection:
            return [project for (project,) in connection.execute("select project from flow_handoffs")]

    def at_another_place(self, project: str) -> list[HandoffYamlState]:
        """Return the states of other places of *project*, latest first: its clones, and where it was."""
        folder, here = folder_identity(project), origin(project)
        with self._database.reading() as connection:
            rows = connection.execute(
                "select project from flow_handoffs where project != ? "
                "and ((folder != '' and folder = ?) or (origin != '' and origin = ?)) "
                "order by folder = ? desc, last_activity_at desc",
                (project, folder, here, folder),
            ).fetchall()
        return [self.get(place) for (place,) in rows]

    def put(self, *states: HandoffYamlState) -> None:
        """Store *states*; values that another process has recorded meanwhile stay flowd's own."""
        with self._database.transaction() as connection:
            for state in states:
                _put(connection, state.joined(_state_in(connection, state.project)))

    def add_written(self, project: str, values: Mapping[str, str]) -> None:
        """Record *values* as flowd's own."""
        with self._database.transaction() as connection:
            _put(connection, _state_in(connection, project).with_written(values))

    def claim_folder(self, project: str) -> None:
        """Record that flowd created the .flow-guardian of *project*: its fields count as this user's."""
        with self._database.transaction() as connection:
            state = _state_in(connection, project)
            _put(connection, msgspec.structs.replace(state, folder=folder_identity(project)))


def _state_in(connection: sqlite3.Connection, project: str) -> HandoffYamlState:
    row = connection.execute(
        "select session_id, last_activity_at, written, folder, work, origin "
        "from flow_handoffs where project = ?",
        (project,),
    ).fetchone()
    if row is None:
        return HandoffYamlState(project)
    written = msgspec.json.decode(row[2], type=dict[str, tuple[str, ...]])
    folder, work, origin = (value or "" for value in row[3:])
    # An earlier version stored activity of the future, which would hold the file for ever.
    last_activity_at = row[1] if row[1] <= time.time() else 0.0
    return HandoffYamlState(project, row[0], last_activity_at, written, folder, work, origin)


def _put(connection: sqlite3.Connection, state: HandoffYamlState) -> None:
    connection.execute(
        "insert or replace into flow_handoffs "
        "(project, session_id, last_activity_at, written, folder, work, origin) values (?, ?, ?, ?, ?, ?, ?)",
        (
            state.project,
            state.session_id,
            state.last_activity_at,
            msgspec.json.encode(state.written).decode(),
            state.folder,
            state.work,
            state.origin,
        ),
    )


def _copied_state(connection: sqlite3.Connection, project: str) -> HandoffYamlState | None:
    """Return the values that flowd wrote elsewhere, if the handoff.yaml of *project* is a copy of it."""
    try:
        present = read_stored(project).mapping or {}
    except HandoffError:
        return None
    session = present.get("session_id")
    rows = connection.execute(
        "select project from flow_handoffs where session_id = ? and session_id != '' and project != ?",
        (session if isinstance(session, str) else "", project),
    ).fetchall()
    for (place,) in rows:
        state = _state_in(connection, place)
        if any(state.is_ours(field, present.get(field)) for field in GUARDED):
            return HandoffYamlState(project, written=state.written)
    return None


def folder_identity(project: str) -> str:
    """Return device and inode of *project*'s .flow-guardian, empty if there is none."""
    try:
        status = os.lstat(os.path.join(project, FOLDER))
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def user_fields(journal: Journal, project: str) -> tuple[UserFields, float]:
    """Return the user's last value of each field, and when the user last saved one."""
    fact = journal.fact(f"words:{project}")
    if fact is None or not isinstance(fact.body, UserFieldsSaved):
        return {}, 0.0
    return dict(fact.body.said), fact.at


def user_fields_fact(
    journal: Journal,
    project: str,
    fields: UserFields,
    session_id: str,
    *,
    cleared: Collection[str] = (),
    work: str = "",
) -> Fact:
    """Return the fact that adds *fields* to those saved before for the same *work*, without *cleared*."""
    now = time.time()
    before = journal.fact(f"words:{project}")
    body = before.body if before and isinstance(before.body, UserFieldsSaved) else UserFieldsSaved({})
    if work and body.work and body.work != work:  # what was saved for other work ends with it
        body = UserFieldsSaved({})
    gone = set(cleared)
    if "goal" in gone:  # and what the goal reset with it
        gone |= {field for field in RESET_BY_GOAL if body.at.get(field) == body.at.get("goal")}
    kept = {field: value for field, value in body.said.items() if field not in gone}
    then = before.at if before else now
    at = {field: body.at.get(field, then) for field in kept} | dict.fromkeys(fields, now)
    return Fact(f"words:{project}", session_id, project, now, UserFieldsSaved(kept | fields, at, work))


def untrusted_fields(
    present: Mapping[str, Any], shown: HandoffYamlState, saved: UserFields
) -> dict[str, str]:
    """Return the guarded values of a handoff.yaml that neither flowd nor ``flow save`` wrote."""
    return {
        field: str(present[field])
        for field in GUARDED
        if present.get(field)
        and not shown.is_ours(field, present[field])
        and saved.get(field) != present[field]
    }


def bound_track(journal: Journal, session_id: str) -> str:
    """Return the track that the session is bound to, ``""`` if none."""
    fact = journal.fact(f"track:{session_id}") if session_id else None
    return fact.body.track if fact is not None and isinstance(fact.body, TrackBound) else ""


def binding_fact(session_id: str, project: str, track: str) -> Fact:
    """Return the fact that the session works on *track*."""
    return Fact(f"track:{session_id}", session_id, project, time.time(), TrackBound(track))
