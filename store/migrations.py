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
from flowd.store.knowledge.intake import mark_foreign_blocks
from flowd.store.knowledge.schema import create_knowledge, index_changed_words
from flowd.store.tables import (
    create_journal,
    create_summaries,
    create_threads,
    create_works,
    recreate_sessions,
)
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
    create_journal(tables)
    create_threads(tables)


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
    recreate_sessions(tables)


@migrations(name="0005_works")
def works(tables: Tables) -> None:
    """Works, what each session contributed to them, and which work each handoff.yaml shows.

    They are formed from the sessions that the journal holds when a project is first read.
    """
    create_works(tables)


@migrations(name="0006_foreign_blocks")
def foreign_blocks(tables: Tables) -> None:
    """Treat blocks of task files that no session wrote as foreign: the user has not accepted them."""
    mark_foreign_blocks(tables.conn)


@migrations(name="0007_summaries")
def summaries(tables: Tables) -> None:
    """What a model was asked for, what it cost, and whether the person agreed to ask one."""
    create_summaries(tables)


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
