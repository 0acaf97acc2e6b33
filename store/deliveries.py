"""The cursor of each sink in the journal, and the quarantine."""

import time

import msgspec

from flowd.model.facts import Fact
from flowd.store.database import Database
from flowd.store.journal import body_from_text, body_text


class Quarantined(msgspec.Struct, frozen=True):
    """A fact that a sink could not deliver; it is shown, and retried by `flowd retry`."""

    sink: str
    key: str
    fact: Fact
    error: str
    tries: int
    since: float


class Deliveries:
    """The cursors and the quarantine of all sinks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def cursor(self, sink: str) -> tuple[int, int]:
        """Return the cursor of *sink* and its number of delivered facts; register the sink if it is new."""
        with self._database.transaction() as connection:
            connection.execute(
                "insert or ignore into flow_sinks (name, cursor, delivered) values (?, 0, 0)", (sink,)
            )
            row = connection.execute("select cursor, delivered from flow_sinks where name = ?", (sink,))
            cursor, delivered = row.fetchone()
        return int(cursor), int(delivered)

    def advance(self, sink: str, cursor: int, delivered: int) -> None:
        """Record that *sink* has delivered everything up to *cursor*."""
        with self._database.transaction() as connection:
            connection.execute(
                "update flow_sinks set cursor = ?, delivered = ?, last_success_at = ? where name = ?",
                (cursor, delivered, time.time(), sink),
            )

    def quarantine(self, sink: str, key: str, fact: Fact, error: str, tries: int) -> None:
        """Quarantine *fact*; a newer one with the same key replaces it."""
        with self._database.transaction() as connection:
            connection.execute(
                "insert or replace into flow_quarantine (sink, key, seq, body, error, tries, since) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (sink, key, fact.seq, _encode(fact), error, tries, time.time()),
            )

    def release(self, sink: str, key: str) -> None:
        """Remove *key* from the quarantine of *sink*: it has been delivered since."""
        with self._database.transaction() as connection:
            connection.execute("delete from flow_quarantine where sink = ? and key = ?", (sink, key))

    def quarantined(self, sink: str | None = None) -> list[Quarantined]:
        """Return the quarantine of one sink or of all."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select sink, key, seq, body, error, tries, since from flow_quarantine "
                "where ? is null or sink = ? order by since",
                (sink, sink),
            ).fetchall()
        return [
            Quarantined(name, key, _decode(body, seq), error, tries, since)
            for name, key, seq, body, error, tries, since in rows
        ]


def _encode(fact: Fact) -> str:
    head = {"key": fact.key, "session_id": fact.session_id, "project": fact.project, "at": fact.at}
    return msgspec.json.encode({**head, "body": body_text(fact.body)}).decode()


def _decode(text: str, seq: int) -> Fact:
    fields = msgspec.json.decode(text)
    return Fact(**{**fields, "body": body_from_text(fields["body"]), "seq": seq})
