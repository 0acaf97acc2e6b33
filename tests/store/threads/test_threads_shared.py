"""core.db belongs to other programs too: their twenty tables stay as they are, byte for byte."""

import hashlib
import sqlite3
from pathlib import Path

from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.store.threads import threads
from flowd.store.threads.threads import Threads

TABLES = 20


def make_foreign_database(path: Path) -> None:
    """Fill *path* with another program's tables: rows of every type, indexes, a trigger, full text search."""
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode = wal")
    for number in range(TABLES - 1):
        connection.execute(
            f"create table memories_{number} (id text primary key, body blob, weight real, n integer, extra)"
        )
        connection.execute(f"create index by_weight_{number} on memories_{number} (weight desc)")
        connection.executemany(
            f"insert into memories_{number} values (?, ?, ?, ?, ?)",
            [(f"m{row}", bytes([row]) * row, row / 3, row**5, None) for row in range(200)],
        )
    connection.execute("create virtual table notes using fts5(body)")
    connection.execute("insert into notes values ('the plan we agreed on')")
    connection.execute(
        "create trigger forget after delete on memories_0 begin insert into notes values (old.id); end"
    )
    connection.commit()
    connection.close()


def fingerprint(path: Path) -> dict[str, str]:
    """Return for each foreign object its definition, and for each foreign table a digest of all its rows."""
    connection = sqlite3.connect(path)
    objects = connection.execute(
        "select type, name, sql from sqlite_master "
        "where tbl_name not like 'flow_%' and tbl_name not like 'handoff%' and name != 'sqlite_sequence'"
    ).fetchall()
    prints = {f"{kind} {name}": str(sql) for kind, name, sql in objects}
    for kind, name, _ in objects:
        if kind == "table":
            rows = connection.execute(f"select * from {name} order by 1").fetchall()
            prints[f"rows {name}"] = hashlib.sha256(repr(rows).encode()).hexdigest()
    connection.close()
    return prints


def live_through(path: Path) -> None:
    """Migrate, and use every operation on a thread."""
    migrate(path)
    database = Database(path)
    handoff_id = Threads(database).create(title="t", content="c", client="chat").handoff.id
    Threads(database).add(handoff_id=handoff_id, entry_type="question", content="q", client="code")
    Threads(database).mark_read(handoff_id=handoff_id, client="chat")
    Threads(database).get(handoff_id=handoff_id, client="chat")
    threads.counts(database)
    Threads(database).close(handoff_id=handoff_id)
    database.close()


def test_another_programs_twenty_tables_are_kept_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    make_foreign_database(path)
    before = fingerprint(path)
    assert sum(key.startswith("rows memories_") for key in before) == TABLES - 1
    live_through(path)
    live_through(path)
    assert fingerprint(path) == before


def test_threads_that_another_program_made_are_used_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        create table handoffs (
            id text primary key, title text not null, project text,
            chat_last_seen integer default 0, code_last_seen integer default 0,
            status text default 'active', created_at text default (datetime('now')), updated_at text);
        create table handoff_entries (
            seq integer primary key autoincrement, handoff_id text not null references handoffs(id),
            from_client text not null, type text not null, content text not null,
            created_at text default (datetime('now')));
        insert into handoffs (id, title, chat_last_seen) values ('hof_theirs', 'theirs', 1);
        insert into handoff_entries (handoff_id, from_client, type, content)
        values ('hof_theirs', 'chat', 'context', 'from elsewhere');
        """
    )
    connection.close()
    migrate(path)
    database = Database(path)
    result = Threads(database).get(handoff_id="hof_theirs", client="code")
    assert [entry.content for entry in result.new_entries] == ["from elsewhere"]
    added = Threads(database).add(
        handoff_id="hof_theirs", entry_type="progress", content="on it", client="code"
    )
    assert added.entry.seq == 2
    database.close()
