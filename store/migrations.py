"""The migrations of core.db, written with sqlite-utils; each run makes a backup first.

Runs as ``python -m flowd.store.migrations PATH`` in its own process (see store/schema.py).
"""

import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

from sqlite_utils import Database as Tables
from sqlite_utils.migrations import Migrations

from flowd.store import schema
from flowd.store.database import BUSY_TIMEOUT_MS, Database
from flowd.store.knowledge.schema import create_knowledge, index_changed_words
from flowd.system.errors import StoreError
from flowd.system.progress import ProgressBar

BACKUPS_KEPT = 3
PAGES_AT_ONCE = 1000


class FlowMigrations(Migrations):
    """Migrations recorded in flowd's own table: core.db may be shared with other programs."""

    migrations_table = schema.MIGRATIONS_TABLE


migrations = FlowMigrations(schema.MIGRATION_SET)


@migrations(name="0001_journal_and_threads")
def journal_and_threads(tables: Tables) -> None:
    """Create the journal, its cursors and projections, and the two tables of the thread specification."""
    _sources(tables)
    _facts(tables)
    _sinks(tables)
    _sessions(tables)
    _threads(tables)


def _sources(tables: Tables) -> None:
    tables.table("flow_sources").create(
        {
            "id": int,
            "device": int,
            "inode": int,
            "fingerprint": str,
            "generation": int,
            "path": str,
            "session_id": str,
            "is_subagent": int,
            "offset": int,
            "lines": int,
            "records": int,
            "tail": bytes,
            "size": int,
            "mtime_ns": int,
            "state": str,
            "first_seen_at": float,
            "last_read_at": float,
        },
        pk="id",
        not_null={"device", "inode", "fingerprint", "path", "offset", "state"},
        if_not_exists=True,
    )
    tables.table("flow_sources").create_index(["path"], if_not_exists=True)
    tables.table("flow_memories").create(
        {"session_id": str, "body": bytes, "updated_at": float}, pk="session_id", if_not_exists=True
    )
    tables.table("flow_counters").create({"name": str, "value": int}, pk="name", if_not_exists=True)


def _facts(tables: Tables) -> None:
    # AUTOINCREMENT: a deleted sequence number must not be used again, since sinks have passed it.
    tables.execute(
        """create table if not exists flow_facts (
            seq integer primary key autoincrement,
            key text not null unique,
            kind text not null,
            session_id text not null,
            project text not null,
            at real not null,
            body text not null
        )"""
    )
    tables.table("flow_facts").create_index(["session_id", "kind"], if_not_exists=True)
    tables.table("flow_facts").create_index(["kind", "at"], if_not_exists=True)


def _sinks(tables: Tables) -> None:
    tables.table("flow_sinks").create(
        {
            "name": str,
            "cursor": int,
            "delivered": int,
            "last_success_at": float,
            "last_error": str,
            "last_error_at": float,
        },
        pk="name",
        not_null={"cursor", "delivered"},
        if_not_exists=True,
    )
    tables.table("flow_quarantine").create(
        {"sink": str, "key": str, "seq": int, "body": str, "error": str, "tries": int, "since": float},
        pk=("sink", "key"),
        if_not_exists=True,
    )


def _sessions(tables: Tables) -> None:
    tables.table("flow_sessions").create(
        {
            "session_id": str,
            "project": str,
            "repository": str,
            "worktree": str,
            "branch": str,
            "title": str,
            "client": str,
            "started_at": float,
            "last_activity_at": float,
            "ended_at": float,
            "compacted_at": float,
            "compactions": int,
            "vanished_at": float,
            "state": str,
            "seq": int,
        },
        pk="session_id",
        if_not_exists=True,
    )
    tables.table("flow_sessions").create_index(["project", "last_activity_at"], if_not_exists=True)
    tables.table("flow_handoffs").create(
        {"project": str, "session_id": str, "last_activity_at": float, "written": str, "folder": str},
        pk="project",
        if_not_exists=True,
    )
    tables.table("flow_idle").create(
        {"session_id": str, "project": str, "last_activity_at": float, "told_at": float},
        pk="session_id",
        if_not_exists=True,
    )


def _threads(tables: Tables) -> None:
    tables.execute(
        """create table if not exists handoffs (
            id text primary key,
            title text not null,
            project text,
            chat_last_seen integer default 0,
            code_last_seen integer default 0,
            status text default 'active',
            created_at text default (datetime('now')),
            updated_at text
        )"""
    )
    tables.execute(
        """create table if not exists handoff_entries (
            seq integer primary key autoincrement,
            handoff_id text not null references handoffs(id),
            from_client text not null,
            type text not null,
            content text not null,
            created_at text default (datetime('now'))
        )"""
    )
    tables.execute("create index if not exists idx_handoff_entries_handoff on handoff_entries(handoff_id)")


@migrations(name="0002_knowledge")
def knowledge(tables: Tables) -> None:
    """Create the knowledge graph with its full-text index, and the blocks it is built from."""
    create_knowledge(tables)


@migrations(name="0003_index_changed_words")
def changed_words(tables: Tables) -> None:
    """Update the full-text index only if the text of a node changes."""
    index_changed_words(tables)


@migrations(name="0004_sessions_without_states")
def sessions_without_states(tables: Tables) -> None:
    """Recreate flow_sessions without the copies of the states; its sink fills it again."""
    tables.execute("drop table if exists flow_sessions")
    sessions = tables.table("flow_sessions")
    sessions.create(
        {
            "session_id": str,
            "project": str,
            "repository": str,
            "worktree": str,
            "branch": str,
            "title": str,
            "client": str,
            "started_at": float,
            "last_activity_at": float,
            "ended_at": float,
            "compacted_at": float,
            "compactions": int,
            "vanished_at": float,
            "seq": int,
        },
        pk="session_id",
    )
    sessions.create_index(["project", "last_activity_at"])
    sessions.create_index(["repository"])
    tables.execute("update flow_sinks set cursor = 0 where name = 'core_db'")


def migrate(path: Path) -> None:
    """Migrate the database at *path* to this version's schema, after a backup."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = Database(path)
    try:
        database.connection()
        path.chmod(0o600)
        with database.errors_named():
            if not schema.is_current(database):
                _apply(database)
    finally:
        database.close()


def _apply(database: Database) -> None:
    connection = database.connection()
    # Taking the write lock first makes a second process wait, and then find nothing left to copy or to do.
    connection.execute("begin immediate")
    try:
        if not schema.is_current(database):
            _back_up(database.path)
            migrations.apply(Tables(connection, execute_plugins=False))
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise


def _back_up(path: Path) -> None:
    # SQLite copies nothing through a connection that writes; beside one it reads what was committed.
    with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
        if connection.execute("select 1 from sqlite_master limit 1").fetchone():
            _copy_aside(connection, path)


def _copy_aside(connection: sqlite3.Connection, path: Path) -> None:
    folder = schema.backups_dir(path)
    folder.mkdir(mode=0o700, exist_ok=True)
    target = folder / f"{path.name}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    # Copied aside first: a copy that a full disk cuts short must not push out an older whole one.
    aside = folder / f".{target.name}.{os.getpid()}"
    try:
        _copy(connection, aside)
        aside.rename(target)
    finally:
        aside.unlink(missing_ok=True)
    for old in sorted(folder.glob(f"{path.name}.*"))[:-BACKUPS_KEPT]:
        old.unlink()


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    target.touch(mode=0o600)
    copy, progress = sqlite3.connect(target), ProgressBar()
    try:
        connection.backup(
            copy,
            pages=PAGES_AT_ONCE,
            progress=lambda _, left, of: progress.step("copying core.db", of - left, of),
        )
    finally:
        progress.clear()
        copy.close()


def main(arguments: list[str]) -> int:
    """Migrate the database named by the argument; print condition, message and hint on failure."""
    try:
        migrate(Path(arguments[0]))
    except OSError as error:
        hint = "check the permissions of core.db and its directory"
        sys.stdout.write(f"cannot open|core.db cannot be opened: {error}\n{hint}\n")
        return 1
    except StoreError as error:
        sys.stdout.write(f"{error.condition}|{error}\n{error.hint}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
