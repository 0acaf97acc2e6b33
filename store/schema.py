"""The schema version of core.db, and starting a migration. Plain sqlite3 only."""

import sqlite3
import subprocess
import sys
from pathlib import Path

from flowd.store.database import Database
from flowd.system.errors import StoreError
from flowd.system.processes import NEUTRAL_DIRECTORY, python_command, scrubbed_environment
from flowd.system.times import to_seconds

MIGRATION_SET = "flowd"
MIGRATIONS_TABLE = "flow_migrations"
# All migrations in order; store/migrations.py implements them, a test keeps both equal.
MIGRATION_NAMES = (
    "0001_journal_and_threads",
    "0002_knowledge",
    "0003_index_changed_words",
    "0004_sessions_without_states",
    "0005_works",
    "0006_foreign_blocks",
    "0007_summaries",
)
MIGRATION_DEADLINE_S = 600


def applied_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the names of flowd's migrations that were applied to *connection*'s database."""
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
    """Return True if *database* has this version's schema; raise StoreError if a newer flowd wrote it."""
    with database.reading() as connection:
        applied = applied_migrations(connection)
    unknown = [name for name in applied if name not in MIGRATION_NAMES]
    if unknown:
        raise StoreError(
            f"core.db was written by a newer flowd: {database.path} (it has {unknown[-1]})",
            condition="newer than this flowd",
            hint="upgrade flowd, or set store.path to another file",
        )
    return len(applied) == len(MIGRATION_NAMES)


def made_at(database: Database) -> float:
    """Return when flowd first used *database*."""
    with database.reading() as connection:
        row = connection.execute(f"select min(applied_at) from {MIGRATIONS_TABLE}").fetchone()  # noqa: S608 a constant
    return to_seconds(row[0])


def ensure_current(database: Database) -> None:
    """Migrate core.db if it is behind, in a child process.

    The migrations use sqlite-utils, which imports click and costs 14 MB: the daemon must not load it.
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
            # On a terminal the child shows a progress bar.
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
        raise _child_error(run.stdout or run.stderr or "")


def note_recovery(database: Database) -> None:
    """Count a recovery of core.db with a real write: on a full disk reads may still work."""
    with database.transaction() as connection:
        connection.execute(
            "insert into flow_counters (name, value) values ('store_recoveries', 1) "
            "on conflict(name) do update set value = value + 1"
        )


def _child_error(output: str) -> StoreError:
    first, _, hint = output.strip().partition("\n")
    condition, separator, what = first.partition("|")
    if not separator:  # an unexpected end: the last line is the error of a traceback
        last = (output.strip().splitlines() or ["no reason given"])[-1]
        return StoreError(
            f"core.db could not be migrated: {last}", condition="not migrated", hint="see `flowd doctor`"
        )
    return StoreError(what, condition=condition, hint=hint)


def backups_dir(path: Path) -> Path:
    """Return the folder of the copies made before migrations of the database at *path*."""
    return path.parent / "backups"
