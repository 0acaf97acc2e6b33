"""Verified backups of core.db, one a day, and restoring one.

The copy is made by SQLite's backup API in a child process (``python -m flowd.store.backups``), so that
the daemon neither waits for it nor carries its pages.
"""

import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from flowd.store.schema import backups_dir
from flowd.system.errors import StoreError

KEPT = 5
DAY_S = 86_400.0
# A daily clock is never exact: a copy that is nearly a day old counts as yesterday's.
DUE_AFTER_S = DAY_S - 3600.0
PAGES_PER_STEP = 1024
PAUSE_BETWEEN_STEPS_S = 0.005
EXIT_DAMAGED = 3
_TIME_FORMAT = "%Y%m%dT%H%M%SZ"


class Backup(NamedTuple):
    """One copy of core.db."""

    path: Path
    made_at: float
    size_bytes: int


def daily_backups(database: Path) -> list[Backup]:
    """Return the daily copies of *database*, newest first."""
    folder = _folder(database)
    found = [_described(file) for file in folder.glob(f"{database.name}.*Z")] if folder.is_dir() else []
    return sorted((backup for backup in found if backup), key=lambda backup: backup.path.name, reverse=True)


def is_due(database: Path, now: float) -> bool:
    """Return True if *database* exists and its newest copy is about a day old."""
    newest = next(iter(daily_backups(database)), None)
    # A copy dated in the future (the clock was wrong) must not put off the next one for long.
    is_recent = newest is not None and abs(now - newest.made_at) < DUE_AFTER_S
    return not is_recent and database.exists()


def back_up(database: Path) -> Backup:
    """Copy *database*, check the copy, and keep it; raise StoreError if the database is damaged.

    A damaged database pushes no older copy out.
    """
    folder = _folder(database)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    target = folder / f"{database.name}.{time.strftime(_TIME_FORMAT, time.gmtime())}"
    aside = folder / f".{target.name}.{os.getpid()}"
    try:
        _copy(database, aside)
        check(aside, of=database)
        _sync(aside)
        aside.rename(target)
    finally:
        aside.unlink(missing_ok=True)
    for old in daily_backups(database)[KEPT:]:
        old.path.unlink(missing_ok=True)
    return Backup(target, target.stat().st_mtime, target.stat().st_size)


def check(file: Path, *, of: Path) -> None:
    """Raise StoreError if the database in *file* is not whole; the message names *of*."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            damage = connection.execute("pragma quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        damage = str(error)
    if damage != "ok":
        raise StoreError(
            f"{of} is damaged: {damage}",
            condition="corrupt",
            hint="`flowd restore-backup` lists the backups and restores one",
        )


def restore(database: Path, backup: Path) -> Path | None:
    """Replace *database* by *backup*; return the path it was moved to, None if there was none.

    Nobody may have the database open. The file that was there is kept beside it, never deleted.
    """
    check(backup, of=backup)
    copy = database.with_name(f".{database.name}.restoring-{os.getpid()}")
    try:
        _copy(backup, copy)
        check(copy, of=backup)
        _sync(copy)
        moved = _move_aside(database)
        copy.rename(database)
    finally:
        copy.unlink(missing_ok=True)
    return moved


def main(arguments: list[str]) -> int:
    """Check the database named in *arguments*, and copy it if that is due; print the outcome."""
    database = Path(arguments[0])
    os.nice(19)
    # What is printed is read by the daemon.
    try:
        if is_due(database, time.time()):
            print(back_up(database).path)  # noqa: T201 same
        elif database.exists():
            check(database, of=database)
    except StoreError as error:
        print(error)  # noqa: T201 same
        return EXIT_DAMAGED
    return 0


def _folder(database: Path) -> Path:
    return backups_dir(database) / "daily"


def _described(file: Path) -> Backup | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return Backup(file, status.st_mtime, status.st_size)


def _copy(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reading,
            closing(sqlite3.connect(target)) as writing,
        ):
            # In steps with pauses: a long copy must not keep the daemon from the disk.
            reading.backup(writing, pages=PAGES_PER_STEP, sleep=PAUSE_BETWEEN_STEPS_S)
            # A backup is one file, without -wal and -shm files.
            writing.execute("pragma journal_mode = delete")
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"{source} cannot be copied: {error}",
            condition="corrupt",
            hint="`flowd restore-backup` lists the backups and restores one",
        ) from error


def _move_aside(database: Path) -> Path | None:
    if not database.exists():
        return None
    aside = database.with_name(f"{database.name}.before-restore-{time.strftime(_TIME_FORMAT, time.gmtime())}")
    for suffix in ("-wal", "-shm", ""):
        part = database.with_name(database.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def _sync(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
