"""The journal: facts and read positions, committed together or not at all."""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable

import msgspec

from flowd.store.database import Database
from flowd.store.facts import Body, Fact, SessionState, StateChanged
from flowd.store.sources import Source, load_sources, store_source

_encode_body = msgspec.json.Encoder().encode
_decode_body = msgspec.json.Decoder(Body).decode

_INSERT = (
    "insert or ignore into flow_facts (key, kind, session_id, project, at, body) values (?, ?, ?, ?, ?, ?)"
)
# The newest state of a session stands for all before it: the old row goes, the new one gets a new
# sequence number, and the journal does not grow with the session.
_REPLACE = _INSERT.replace("insert or ignore", "insert or replace")
_COUNT = (
    "insert into flow_counters (name, value) values (?, ?) "
    "on conflict(name) do update set value = value + excluded.value"
)


class Batch:
    """What one round of reading found out: kept whole, or forgotten whole and found out again."""

    def __init__(self) -> None:
        self.sources: dict[int, Source] = {}
        self.memories: dict[str, bytes] = {}
        self.facts: list[Fact] = []
        self.counters: Counter[str] = Counter()
        self.bytes_read = 0

    def __bool__(self) -> bool:
        return bool(self.sources or self.facts or self.counters)

    def add_source(self, source: Source) -> None:
        """Have *source*'s position stored with this batch."""
        self.sources[id(source)] = source


class Journal:
    """core.db as the reader and the dispatcher see it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def commit(self, batch: Batch) -> int:
        """Store *batch* in one transaction; return the newest sequence number, 0 if no fact came."""
        newest = 0
        with self._database.transaction() as connection:
            for source in batch.sources.values():
                store_source(connection, source)
            _store_memories(connection, batch.memories)
            for fact in batch.facts:
                seq = _append(connection, fact)
                batch.counters["facts"] += seq > 0
                newest = seq or newest
            connection.executemany(_COUNT, batch.counters.items())
        return newest

    def sources(self) -> list[Source]:
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

    def facts_after(self, seq: int, most: int) -> list[Fact]:
        """Return up to *most* facts after *seq*, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select seq, key, session_id, project, at, body from flow_facts "
                "where seq > ? order by seq limit ?",
                (seq, most),
            ).fetchall()
        return [_fact(row) for row in rows]

    def latest_states(self, most: int) -> list[SessionState]:
        """Return the states of the *most* recently active sessions."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select body from flow_facts where kind = 'state' order by at desc limit ?", (most,)
            ).fetchall()
        bodies = [body_from_text(body) for (body,) in rows]
        return [body.state for body in bodies if isinstance(body, StateChanged)]

    def newest(self) -> int:
        """Return the sequence number of the newest fact."""
        with self._database.reading() as connection:
            return int(connection.execute("select coalesce(max(seq), 0) from flow_facts").fetchone()[0])

    def counters(self) -> dict[str, int]:
        """Return the totals counted since core.db was made."""
        with self._database.reading() as connection:
            return dict(connection.execute("select name, value from flow_counters"))


def body_text(body: Body) -> str:
    """Return *body* as the JSON that the journal keeps."""
    return _encode_body(body).decode()


def body_from_text(text: str) -> Body:
    """Return the body that ``body_text`` wrote."""
    body: Body = _decode_body(text)
    return body


def _store_memories(connection: sqlite3.Connection, memories: dict[str, bytes]) -> None:
    now = time.time()
    connection.executemany(
        "insert or replace into flow_memories (session_id, body, updated_at) values (?, ?, ?)",
        [(session_id, body, now) for session_id, body in memories.items()],
    )


def _append(connection: sqlite3.Connection, fact: Fact) -> int:
    statement = _REPLACE if isinstance(fact.body, StateChanged) else _INSERT
    row = (fact.key, fact.kind, fact.session_id, fact.project, fact.at, body_text(fact.body))
    cursor = connection.execute(statement, row)
    return (cursor.lastrowid or 0) if cursor.rowcount > 0 else 0


def _fact(row: Iterable[object]) -> Fact:
    seq, key, session_id, project, at, body = row
    return Fact(
        key=str(key),
        session_id=str(session_id),
        project=str(project),
        at=float(at),  # type: ignore[arg-type]  # the column is real, not null
        body=body_from_text(str(body)),
        seq=int(seq),  # type: ignore[call-overload]  # the column is the integer primary key
    )
