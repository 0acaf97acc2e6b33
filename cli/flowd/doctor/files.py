"""Checks of flowd's files: permissions and disk space."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from flowd.cli.flowd.doctor.finding import CheckResult, DoctorContext
from flowd.cli.output import size

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
    if mode & 0o077:
        return f"{path} has mode {mode:04o}", f"chmod {wanted:o} {path}"
    return None


def _nearest_existing(path: Path) -> Path:
    return next(place for place in (path, *path.parents) if place.exists())
