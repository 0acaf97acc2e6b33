"""The journal: facts, read offsets and extractor memories, committed in one transaction."""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from flowd.config.logs import log
from flowd.model.facts import REPLACING, Body, Fact, StateChanged
from flowd.model.session import SessionState, latest_activity
from flowd.store.database import Database
from flowd.store.packed_sources import PackedSource, load_sources
from flowd.store.sessions import OF_PROJECT
from flowd.store.sources import Source, store_source
from flowd.system.text import storable

_encode_body = msgspec.json.Encoder().encode
_decode_body = msgspec.json.Decoder(Body).decode

_INSERT = (
    "insert or ignore into flow_facts (key, kind, session_id, project, at, body) values (?, ?, ?, ?, ?, ?)"
)
# For kinds of which only the newest counts: the old row is deleted and the new one gets a new sequence
# number, so that sinks see it and the journal does not grow with the session.
_REPLACE = _INSERT.replace("insert or ignore", "insert or replace")
_COUNT = (
    "insert into flow_counters (name, value) values (?, ?) "
    "on conflict(name) do update set value = value + excluded.value"
)


class Batch:
    """The result of one round of reading: committed as a whole, or dropped and read again."""

    def __init__(self) -> None:
        self.sources: dict[int, Source] = {}
        self.memories: dict[str, bytes] = {}
        self.facts: list[Fact] = []
        # Facts that do not replace one with the same key, although their kind does.
        self.missed: list[Fact] = []
        # The stored facts with their sequence numbers: sinks that are up to date need not read them back.
        self.stored: list[Fact] = []
        self.counters: Counter[str] = Counter()
        # Projections that must never be behind the facts are written with them.
        self.also: list[Callable[[sqlite3.Connection], None]] = []
        self.bytes_read = 0

    def __bool__(self) -> bool:
        return bool(self.sources or self.facts or self.counters)

    def statements(self) -> Iterator[tuple[Fact, str]]:
        """Yield each fact with the statement that stores it."""
        for fact in self.facts:
            yield fact, _REPLACE if isinstance(fact.body, REPLACING) else _INSERT
        for fact in self.missed:
            yield fact, _INSERT

    def add_source(self, source: Source) -> None:
        """Store *source* with this batch."""
        self.sources[id(source)] = source


class Journal:
    """Reads and writes facts, sources and memories in core.db."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit(self, batch: Batch) -> int:
        """Store *batch* in one transaction; return the newest sequence number, 0 without a new fact."""
        newest = 0
        with self._database.transaction() as connection:
            for source in batch.sources.values():
                store_source(connection, source)
            _store_memories(connection, batch.memories)
            for fact, statement in batch.statements():
                seq = _append(connection, fact, statement)
                if seq:
                    batch.counters["facts"] += 1
                    batch.stored.append(msgspec.structs.replace(fact, seq=seq))
                    newest = seq
            for write in batch.also:
                write(connection)
            connection.executemany(_COUNT, batch.counters.items())
        return newest

    def sources(self) -> list[PackedSource]:
        """Return the known transcripts."""
        with self._database.reading() as connection:
            return load_sources(connection)

    def memory(self, session_id: str) -> bytes | None:
        """Return the stored extractor memory of a session."""
        with self._database.reading() as connection:
            row = connection.execute(
                "select body from flow_memories where session_id = ?", (session_id,)
            ).fetchone()
        return row[0] if row else None

    def append(self, *facts: Fact) -> int:
        """Store facts that do not come from a transcript; return the newest sequence number."""
        batch = Batch()
        batch.facts.extend(facts)
        return self.commit(batch)

    def fact(self, key: str) -> Fact | None:
        """Return the fact with *key*."""
        return next(iter(self._facts("key = ?", (key,))), None)

    def facts_of_session(self, session_id: str, kind: str) -> list[Fact]:
        """Return a session's facts of one kind, oldest first."""
        return self._facts("session_id = ? and kind = ? order by seq", (session_id, kind))

    def facts_of_project(self, project: str, kind: str, limit: int) -> list[Fact]:
        """Return a project's latest facts of one kind, newest first."""
        return self._facts("kind = ? and project = ? order by at desc limit ?", (kind, project, limit))

    def facts_of_kind(self, kind: str) -> list[Fact]:
        """Return all facts of one kind, newest first."""
        return self._facts("kind = ? order by at desc", (kind,))

    def projects(self) -> list[str]:
        """Return every project that a session has worked in."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select distinct project from flow_facts where kind = 'state' and project != ''"
            ).fetchall()
        return [project for (project,) in rows]

    def count_of_session(self, session_id: str) -> int:
        """Return the number of facts of a session."""
        with self._database.reading() as connection:
            row = connection.execute("select count(*) from flow_facts where session_id = ?", (session_id,))
            return int(row.fetchone()[0])

    def states_of(self, project: str, repository: str, limit: int) -> list[SessionState]:
        """Return the latest states of a project's sessions; those of its other worktrees come last."""
        facts = self._facts(
            OF_PROJECT + "order by project = :project desc, at desc limit :limit",
            {"project": project, "repository": repository, "limit": limit},
        )
        return [fact.body.state for fact in facts if isinstance(fact.body, StateChanged)]

    def count_of_states(self, project: str = "", repository: str = "") -> int:
        """Return the number of sessions of a project, of all projects without one."""
        where = OF_PROJECT if project else "kind = 'state'"
        with self._database.reading() as connection:
            row = connection.execute(
                f"select count(*) from flow_facts where {where}",  # noqa: S608 constants
                {"project": project, "repository": repository},
            )
            return int(row.fetchone()[0])

    def _facts(self, where: str, values: tuple[object, ...] | dict[str, object]) -> list[Fact]:
        with self._database.reading() as connection:
            rows = connection.execute(
                "select seq, key, session_id, project, at, body from flow_facts where " + where,  # noqa: S608 constants
                values,
            ).fetchall()
        return _facts_in(rows)

    def facts_after(self, seq: int, limit: int) -> list[Fact]:
        """Return up to *limit* facts after *seq*, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select seq, key, session_id, project, at, body from flow_facts "
                "where seq > ? order by seq limit ?",
                (seq, limit),
            ).fetchall()
        return _facts_in(rows)

    def latest_states(self, limit: int) -> list[SessionState]:
        """Return the states of the *limit* recently active sessions."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select body from flow_facts where kind = 'state' order by at desc limit ?", (limit,)
            ).fetchall()
        bodies = [decodable_body(body) for (body,) in rows]
        return [body.state for body in bodies if isinstance(body, StateChanged)]

    def prune(self, stops_kept: int) -> None:
        """Delete all but the latest *stops_kept* checkpoints at the end of a turn of each session."""
        with self._database.transaction() as connection:
            connection.execute(
                "delete from flow_facts where seq in (select seq from (select seq, row_number() over "
                "(partition by session_id order by seq desc) as place from flow_facts where "
                "kind = 'checkpoint' and json_extract(body, '$.trigger') = 'stop') where place > ?)",
                (stops_kept,),
            )

    def newest(self) -> int:
        """Return the sequence number of the newest fact."""
        with self._database.reading() as connection:
            return int(connection.execute("select coalesce(max(seq), 0) from flow_facts").fetchone()[0])

    def counters(self) -> dict[str, int]:
        """Return the totals counted since core.db was created."""
        with self._database.reading() as connection:
            return dict(connection.execute("select name, value from flow_counters"))


def body_text(body: Body) -> str:
    """Return *body* as JSON for the journal."""
    return _encode_body(body).decode()


def body_from_text(text: str) -> Body:
    """Return the body that ``body_text`` encoded."""
    body: Body = _decode_body(text)
    return body


def decodable_body(text: str) -> Body | None:
    """Return the body that *text* holds, None if it cannot be decoded: one bad row must not stop all others.

    What an earlier version stored is mended: NULs, and activity of the future.
    """
    try:
        body = body_from_text(text.replace("\\u0000", "\\ufffd") if "\\u0000" in text else text)
    except (msgspec.DecodeError, RecursionError) as error:
        log.warning("fact_unreadable", error=str(error))
        return None
    if isinstance(body, StateChanged) and latest_activity(body.state) > time.time():
        return StateChanged(_dated(body.state))
    return body


def _dated(state: SessionState) -> SessionState:
    """Return *state* with the latest of its times that is not of the future."""
    now = time.time()
    known = [at for at in (state.last_activity_at, state.touched_at, state.started_at) if at <= now]
    at = max(known, default=0.0)
    return msgspec.structs.replace(state, last_activity_at=at, touched_at=min(state.touched_at, at))


def _store_memories(connection: sqlite3.Connection, memories: dict[str, bytes]) -> None:
    now = time.time()
    connection.executemany(
        "insert into flow_memories (session_id, body, updated_at) values (?, ?, ?) "
        "on conflict(session_id) do update set body = excluded.body, updated_at = excluded.updated_at",
        [(session_id, body, now) for session_id, body in memories.items()],
    )


def _append(connection: sqlite3.Connection, fact: Fact, statement: str) -> int:
    row = (fact.key, fact.kind, fact.session_id, fact.project, fact.at, body_text(fact.body))
    cursor = connection.execute(statement, row)
    return (cursor.lastrowid or 0) if cursor.rowcount > 0 else 0


def _facts_in(rows: Iterable[tuple[Any, ...]]) -> list[Fact]:
    """Return the facts of *rows* but those that cannot be decoded."""
    found = []
    for seq, key, session_id, project, at, text in rows:
        body = decodable_body(str(text))
        if body is not None:
            found.append(Fact(str(key), str(session_id), storable(str(project)), float(at), body, int(seq)))
    return found
