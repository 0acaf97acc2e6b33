"""Which shape core.db has, and whether it is the one this version works with. Plain sqlite3 only."""

import sqlite3
import subprocess
import sys
from datetime import datetime
from pathlib import Path

from flowd.store.database import Database
from flowd.system.errors import StoreError
from flowd.system.processes import NEUTRAL_DIRECTORY, python_command, scrubbed_environment

MIGRATION_SET = "flowd"
MIGRATIONS_TABLE = "flow_migrations"
# The names of all migrations in order; store/migrations.py holds what each does, a test keeps both equal.
MIGRATION_NAMES = (
    "0001_journal_and_threads",
    "0002_knowledge",
    "0003_index_changed_words",
    "0004_sessions_without_states",
)
MIGRATION_DEADLINE_S = 600


def applied_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the names of flowd's migrations that *connection*'s database has seen."""
    exists = connection.execute(
        "select 1 from sqlite_master where type = 'table' and name = ?", (MIGRATIONS_TABLE,)
    ).fetchone()
    if exists is None:
        return []
    rows = connection.execute(
        f"select name from {MIGRATIONS_TABLE} where migration_set = ? order by rowid",  # noqa: S608 a constant
        (MIGRATION_SET,),
    )
    return [name for (name,) in rows]


def is_current(database: Database) -> bool:
    """Say whether *database* has exactly this version's shape; raise if a newer flowd made it."""
    with database.reading() as connection:
        applied = applied_migrations(connection)
    unknown = [name for name in applied if name not in MIGRATION_NAMES]
    if unknown:
        raise StoreError(
            f"core.db was made by a newer flowd: {database.path} (it has {unknown[-1]})",
            condition="newer than this flowd",
            hint="upgrade flowd, or set store.path to another file",
        )
    return len(applied) == len(MIGRATION_NAMES)


def made_at(database: Database) -> float:
    """Return when flowd first used *database*."""
    with database.reading() as connection:
        row = connection.execute(f"select min(applied_at) from {MIGRATIONS_TABLE}").fetchone()  # noqa: S608 a constant
    return datetime.fromisoformat(row[0]).timestamp() if row[0] else 0.0


def ensure_current(database: Database) -> None:
    """Migrate core.db if it is behind, in a child process.

    sqlite-utils, which the migrations are written with, imports click and costs 14 MB: the daemon
    must never carry it.
    """
    try:
        database.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if database.path.exists() and database.path.stat().st_size and is_current(database):
            return
        run = subprocess.run(
            python_command("flowd.store.migrations", str(database.path.absolute())),
            cwd=NEUTRAL_DIRECTORY,
            env=scrubbed_environment(),
            stdout=subprocess.PIPE,
            # On a terminal the child shows how far it is; elsewhere it has nothing to say there.
            stderr=None if sys.stderr and sys.stderr.isatty() else subprocess.PIPE,
            text=True,
            timeout=MIGRATION_DEADLINE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StoreError(
            f"core.db cannot be opened: {error}",
            condition="cannot open",
            hint="check that the directory of core.db exists and is writable",
        ) from error
    if run.returncode != 0:
        raise _told_by_child(run.stdout or run.stderr or "")


def note_recovery(database: Database) -> None:
    """Count that core.db serves again: a real write, since reading may work on a full disk."""
    with database.transaction() as connection:
        connection.execute(
            "insert into flow_counters (name, value) values ('store_recoveries', 1) "
            "on conflict(name) do update set value = value + 1"
        )


def _told_by_child(words: str) -> StoreError:
    first, _, hint = words.strip().partition("\n")
    condition, told, what = first.partition("|")
    if not told:  # it did not end as it should: its last line is the error of a traceback
        last = (words.strip().splitlines() or ["no reason given"])[-1]
        return StoreError(
            f"core.db could not be migrated: {last}", condition="not migrated", hint="see `flowd doctor`"
        )
    return StoreError(what, condition=condition, hint=hint)


def backups_dir(path: Path) -> Path:
    """Return the folder that keeps the copies made before migrations of the database at *path*."""
    return path.parent / "backups"
