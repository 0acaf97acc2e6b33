"""How far each sink has followed the journal, and what it could not take."""

import time

import msgspec

from flowd.model.facts import Fact
from flowd.store.database import Database
from flowd.store.journal import body_from_text, body_text


class Quarantined(msgspec.Struct, frozen=True):
    """A fact that a sink gave up on: kept, shown, and tried again when asked."""

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
        """Return *sink*'s cursor and how many facts it has taken, registering it at first sight."""
        with self._database.transaction() as connection:
            connection.execute(
                "insert or ignore into flow_sinks (name, cursor, delivered) values (?, 0, 0)", (sink,)
            )
            row = connection.execute("select cursor, delivered from flow_sinks where name = ?", (sink,))
            cursor, delivered = row.fetchone()
        return int(cursor), int(delivered)

    def advance(self, sink: str, cursor: int, delivered: int) -> None:
        """Record that *sink* needs nothing up to *cursor* again."""
        with self._database.transaction() as connection:
            connection.execute(
                "update flow_sinks set cursor = ?, delivered = ?, last_success_at = ? where name = ?",
                (cursor, delivered, time.time(), sink),
            )

    def quarantine(self, sink: str, key: str, fact: Fact, error: str, tries: int) -> None:
        """Move *fact* into the quarantine; a newer one with the same key takes its place."""
        with self._database.transaction() as connection:
            connection.execute(
                "insert or replace into flow_quarantine (sink, key, seq, body, error, tries, since) "
                "values (?, ?, ?, ?, ?, ?, ?)",
                (sink, key, fact.seq, _packed(fact), error, tries, time.time()),
            )

    def release(self, sink: str, key: str) -> None:
        """Forget that *sink* gave up on *key*: it has since been delivered."""
        with self._database.transaction() as connection:
            connection.execute("delete from flow_quarantine where sink = ? and key = ?", (sink, key))

    def quarantined(self, sink: str | None = None) -> list[Quarantined]:
        """Return what is put aside, for one sink or for all."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "select sink, key, seq, body, error, tries, since from flow_quarantine "
                "where ? is null or sink = ? order by since",
                (sink, sink),
            ).fetchall()
        return [
            Quarantined(name, key, _unpacked(body, seq), error, tries, since)
            for name, key, seq, body, error, tries, since in rows
        ]


def _packed(fact: Fact) -> str:
    head = {"key": fact.key, "session_id": fact.session_id, "project": fact.project, "at": fact.at}
    return msgspec.json.encode({**head, "body": body_text(fact.body)}).decode()


def _unpacked(text: str, seq: int) -> Fact:
    fields = msgspec.json.decode(text)
    return Fact(**{**fields, "body": body_from_text(fields["body"]), "seq": seq})
