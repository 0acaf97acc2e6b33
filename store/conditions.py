"""Map SQLite errors that the user can act on to a StoreError with a condition and a hint."""

import os
import shlex
import sqlite3
from pathlib import Path

from flowd.system.errors import StoreError

SQLITE_MAGIC = b"SQLite format 3\x00"
LOCKED = ("locked", "another program holds core.db; flowd tries again by itself")
MOVED = ("moved or replaced", "flowd opens what is there now by itself")
_CORRUPT = ("corrupt", "stop flowd, keep the file, and restore one from the backups folder")
_NOT_PERMITTED = ("cannot open", "check the permissions of core.db and its directory")
_CONDITIONS = {
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
    sqlite3.SQLITE_READONLY: ("read-only", "make core.db and its directory writable for this user"),
    sqlite3.SQLITE_FULL: ("full", "free some disk space; flowd tries again by itself"),
    sqlite3.SQLITE_IOERR: ("i/o error", "check the disk that holds core.db"),
    sqlite3.SQLITE_CORRUPT: _CORRUPT,
    sqlite3.SQLITE_CANTOPEN: (
        "cannot open",
        "check owner and permissions of core.db and its directory with `ls -l`: both must be yours",
    ),
    sqlite3.SQLITE_PERM: _NOT_PERMITTED,
    sqlite3.SQLITE_AUTH: _NOT_PERMITTED,
}


def named_error(error: sqlite3.DatabaseError, path: Path) -> StoreError | None:
    """Return the StoreError for *error*, or None if it is a bug and not a condition of the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_NOTADB:
        condition, hint = _not_a_database(path)
    elif primary in _CONDITIONS:
        condition, hint = _CONDITIONS[primary]
    elif primary == sqlite3.SQLITE_ERROR and "no such table" in str(error):
        condition, hint = MOVED
    else:
        return None
    why = str(error)
    if condition == "cannot open" and path.exists() and not os.access(path, os.R_OK | os.W_OK):
        why = "Permission denied"
        hint = f"chmod u+rw {shlex.quote(str(path))}"
    return StoreError(f"{sentence(condition)}: {path} ({why})", condition=condition, hint=hint)


def sentence(condition: str) -> str:
    """Return *condition* as a sentence about core.db."""
    return "core.db cannot be opened" if condition == "cannot open" else f"core.db is {condition}"


def locked_error(path: Path) -> StoreError:
    """Return the error for a write that is refused because another one has just waited in vain."""
    return StoreError(f"core.db is {LOCKED[0]}: {path}", condition=LOCKED[0], hint=LOCKED[1])


def moved_error(path: Path) -> StoreError:
    """Return the error for a file that is no longer the one that was opened."""
    return StoreError(f"core.db was moved, deleted or replaced: {path}", condition=MOVED[0], hint=MOVED[1])


def shape_error(path: Path, problem: str) -> StoreError:
    """Return the error for tables of another program that have the names of flowd's."""
    return StoreError(
        f"the thread tables in core.db have another shape: {path} ({problem})",
        condition="of another shape",
        hint="another program made them; give flowd a file of its own with `store.path`, see `flowd config`",
    )


def _not_a_database(path: Path) -> tuple[str, str]:
    try:
        with path.open("rb") as file:
            magic = file.read(len(SQLITE_MAGIC))
    except OSError:
        magic = b""
    if magic == SQLITE_MAGIC:
        return _CORRUPT
    name = shlex.quote(str(path))
    hint = f"move it away (`mv {name} {name}.old`) and run `flowd restart`, or `flowd restore-backup`"
    return "encrypted or not SQLite", hint
