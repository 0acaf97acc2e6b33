"""Checks of flowd's files: core.db, without changing a byte of it; permissions and disk space."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.output import size
from flowd.store.conditions import named_error
from flowd.store.schema import MIGRATION_NAMES, applied_migrations

WARNING_BYTES = 1_000_000_000
TROUBLE_BYTES = 100_000_000


def check_permissions(case: DoctorContext) -> CheckResult:
    """Check that flowd's directories and files are private to this user."""
    wrong = [line for path in _own_paths(case) if (line := _problem(path))]
    if not wrong:
        return CheckResult("permissions", "ok", "directories 0700, files 0600")
    seen = "; ".join(seen for seen, _ in wrong)
    return CheckResult("permissions", "trouble", seen, "; ".join(fix for _, fix in wrong))


def check_disk(case: DoctorContext) -> CheckResult:
    """Check the free disk space for core.db."""
    free = shutil.disk_usage(_nearest_existing(case.database.parent)).free
    seen = f"{size(free)} free for core.db"
    if free < TROUBLE_BYTES:
        return CheckResult("disk", "trouble", seen, "free some disk space")
    if free < WARNING_BYTES:
        return CheckResult("disk", "warning", seen, "free some disk space")
    return CheckResult("disk", "ok", seen)


def _own_paths(case: DoctorContext) -> Iterator[Path]:
    paths = case.paths
    yield from dict.fromkeys(
        path for path in (paths.data_dir, paths.state_dir, paths.log_dir, case.socket.parent) if path.is_dir()
    )
    files = [paths.lock, case.database, *paths.log_dir.glob("*")]
    files += [case.database.with_name(case.database.name + ending) for ending in ("-wal", "-shm")]
    yield from (file for file in files if file.is_file())


def _problem(path: Path) -> tuple[str, str] | None:
    status = path.stat()
    mode, wanted = stat.S_IMODE(status.st_mode), 0o700 if path.is_dir() else 0o600
    if status.st_uid != os.getuid():
        return f"{path} belongs to user {status.st_uid}", f"sudo chown {os.getuid()} {path}"
    if mode & wanted != wanted:
        return f"{path} has mode {mode:04o}: flowd cannot write to it", f"chmod {wanted:o} {path}"
    if mode & 0o077:
        return f"{path} has mode {mode:04o}", f"chmod {wanted:o} {path}"
    return None


def _nearest_existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())


WAL_MARK = b"\x02\x02"
WAL_MARK_AT = 18


def check_database(case: DoctorContext) -> CheckResult:
    """Check that core.db opens, is not corrupt, and has the schema of this version."""
    file = case.database
    if not file.exists():
        return CheckResult("database", "info", f"{file} does not exist yet; flowd creates it at its start")
    try:
        with closing(_open_read_only(file)) as connection:
            damage = connection.execute("pragma quick_check(1)").fetchone()[0]
            applied = applied_migrations(connection)
        mark = _wal_mark(file)
    except sqlite3.DatabaseError as error:
        return _unusable(file, error)
    except OSError as error:
        return CheckResult("database", "trouble", f"{file}: {error.strerror}", f"chmod 600 {file}")
    if damage != "ok":
        return CheckResult("database", "trouble", f"{file} is corrupt: {damage}", _restore(file))
    return _check_schema(file, applied, in_wal=mark == WAL_MARK)


def _check_schema(file: Path, applied: list[str], *, in_wal: bool) -> CheckResult:
    newer = [name for name in applied if name not in MIGRATION_NAMES]
    if newer:
        return CheckResult(
            "database", "trouble", f"{file} was written by a newer flowd ({newer[-1]})", "upgrade flowd"
        )
    if len(applied) < len(MIGRATION_NAMES):
        seen = f"{file} has an older schema; the next start migrates it, after a backup"
        return CheckResult("database", "warning", seen, "flowd restart")
    if not in_wal:
        return CheckResult("database", "warning", f"{file} is not in WAL mode", "flowd restart")
    return CheckResult(
        "database", "ok", f"{file} is intact, current, in WAL mode, {size(file.stat().st_size)}"
    )


def _open_read_only(file: Path) -> sqlite3.Connection:
    # Even a read-only connection creates missing -wal and -shm files. Without a -wal file nobody has the
    # database open, so that "immutable" is safe, which does not create them.
    in_use = file.with_name(file.name + "-wal").exists()
    return sqlite3.connect(f"{file.absolute().as_uri()}?{'mode=ro' if in_use else 'immutable=1'}", uri=True)


def _wal_mark(file: Path) -> bytes:
    with file.open("rb") as stream:
        stream.seek(WAL_MARK_AT)
        return stream.read(len(WAL_MARK))


def _unusable(file: Path, error: sqlite3.DatabaseError) -> CheckResult:
    named = named_error(error, file)
    if named is None:
        return CheckResult("database", "trouble", f"{file}: {error}", _restore(file))
    return CheckResult("database", "trouble", str(named), named.hint)


def _restore(file: Path) -> str:
    return f"flowd stop, keep the file, and restore one from {file.parent / 'backups'}"
