"""Connections to core.db: pragmas, turns at writing, and errors told apart."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flowd.store.pragmas import set_pragmas
from flowd.system.errors import StoreError

BUSY_TIMEOUT_MS = 5000
CACHE_KB = 512
# The daemon's threads read little and each other's writes empty what they keep: less is enough for them.
READING_CACHE_KB = 64
# The log is folded into core.db beside the work, not within a commit; the second is for when nobody does.
CHANGES_PER_FOLD = 500
PAGES_UNFOLDED = 4_000
LONG_LOG_BYTES = 8 << 20
SQLITE_MAGIC = b"SQLite format 3\x00"

_CONDITIONS = {
    sqlite3.SQLITE_BUSY: ("locked", "another program holds core.db; flowd tries again by itself"),
    sqlite3.SQLITE_LOCKED: ("locked", "another program holds core.db; flowd tries again by itself"),
    sqlite3.SQLITE_READONLY: ("read-only", "make core.db and its directory writable for this user"),
    sqlite3.SQLITE_FULL: ("full", "free some disk space; flowd tries again by itself"),
    sqlite3.SQLITE_IOERR: ("i/o error", "check the disk that holds core.db"),
    sqlite3.SQLITE_CORRUPT: ("corrupt", "stop flowd, keep the file, and restore one from the backups folder"),
    sqlite3.SQLITE_CANTOPEN: ("cannot open", "check that the directory of core.db exists and is writable"),
    sqlite3.SQLITE_PERM: ("cannot open", "check the permissions of core.db and its directory"),
    sqlite3.SQLITE_AUTH: ("cannot open", "check the permissions of core.db and its directory"),
}
_MOVED = ("moved or replaced", "flowd opens what is there now by itself")


class Database:
    """One core.db: a connection per thread to read with, and one for all of this process's writing.

    SQLite forgets its pages whenever another connection has written, so threads that wrote through
    connections of their own would each begin with nothing in memory, every time.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Name the database; nothing is opened yet.

        ``durable=False`` lets the last commits be lost in a power cut (never torn). The reader of
        transcripts wants this: it reads them again. People's own words need ``durable=True``. Whoever
        takes it also folds the log: commits do not stop to do so.
        """
        self.path = path
        self._durable = durable
        self._synchronous = "FULL" if durable else "NORMAL"
        self._local = threading.local()
        self._writing = threading.Lock()
        self._writer: _Opened | None = None
        self._writes_in = 0
        self._refused_at = 0.0
        self._changes = 0
        self._all: dict[sqlite3.Connection, threading.Thread] = {}
        self._all_guard = threading.Lock()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; within a transaction, the one that writes."""
        if self._writes_in == threading.get_ident() and self._writer is not None:
            return self._writer.connection
        return self._own().connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one write: all of it is kept, or none."""
        asked_at = time.monotonic()
        with self._writing, self.errors_named():
            connection = self._writing_one()
            changes = connection.total_changes
            self._writes_in = threading.get_ident()
            try:
                self._begin(connection, asked_at)
                yield connection
                connection.execute("commit")
                self._changes += connection.total_changes - changes
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("rollback")
                if isinstance(error, sqlite3.DatabaseError):
                    # What could not write once may never: one opened to a read-only file stays so.
                    self._drop_writer()
                raise
            finally:
                self._writes_in = 0

    def _begin(self, connection: sqlite3.Connection, asked_at: float) -> None:
        """Begin to write, unless one who was first has waited in vain meanwhile: once is enough for all."""
        if self._refused_at > asked_at:
            condition, hint = _CONDITIONS[sqlite3.SQLITE_BUSY]
            raise StoreError(f"core.db is {condition}: {self.path}", condition=condition, hint=hint)
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                self._refused_at = time.monotonic()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Run the block's queries with errors named like those of a write."""
        with self.errors_named():
            yield self.connection()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Turn sqlite3's errors into one StoreError that says condition, file and remedy."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            named = named_error(error, self.path)
            if named is None:
                raise
            raise named from error

    def version(self) -> int:
        """Return a number that changes, for this thread, when another connection has written."""
        with self.reading() as connection:
            return int(connection.execute("pragma data_version").fetchone()[0])

    @property
    def wal_is_large(self) -> bool:
        """Whether enough was written since the last ``fold_log`` to make one worth while."""
        return self._changes >= CHANGES_PER_FOLD

    def checkpoint_wal(self) -> None:
        """Move what the write-ahead log holds into core.db itself, while others write on.

        A log that always has something new at its end can never begin again from its start: when it has
        become long, writers wait for the moment that the rest takes.
        """
        self._changes = 0
        with self.reading() as connection:
            connection.execute("pragma wal_checkpoint(passive)")
            if _size(f"{self.path}-wal") > LONG_LOG_BYTES:
                with self._writing:
                    connection.execute("pragma wal_checkpoint(passive)")

    def shrink(self) -> None:
        """Give back what this thread's connection and the writing one keep in memory for quick access."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        with self.errors_named():
            if opened is not None:
                opened.connection.execute("pragma shrink_memory")
            with self._writing:
                if self._writer is not None:
                    self._writer.connection.execute("pragma shrink_memory")

    def drop_connection(self) -> None:
        """Close this thread's connection and the writing one; the next use opens the file anew."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is not None:
            self._local.opened = None
            with self._all_guard:
                self._all.pop(opened.connection, None)
            opened.connection.close()
        # One who is writing at this moment finds out by itself what is wrong.
        if self._writing.acquire(blocking=False):
            try:
                self._drop_writer()
            finally:
                self._writing.release()

    def close(self) -> None:
        """Close every connection that any thread opened."""
        with self._all_guard:
            connections, self._all = self._all, {}
        self._local = threading.local()
        for connection in connections:
            connection.close()
        self._drop_writer()

    def _own(self) -> "_Opened":
        """Return what this thread has opened, opening it first if need be."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is None:
            cache_kb = CACHE_KB if self._durable else READING_CACHE_KB
            opened = self._local.opened = self._open(cache_kb)
            self._close_orphans()
            with self._all_guard:
                self._all[opened.connection] = threading.current_thread()
        elif _identity(self.path) != opened.identity:
            # SQLite would go on writing into the file that is no longer there, and nobody would know.
            raise StoreError(
                f"core.db was moved, deleted or replaced: {self.path}", condition=_MOVED[0], hint=_MOVED[1]
            )
        return opened

    def _writing_one(self) -> sqlite3.Connection:
        """Return the connection that writes, to the very file that this thread has read from."""
        own = self._own()
        if self._writer is not None and self._writer.identity != own.identity:
            self._drop_writer()
        if self._writer is None:
            self._writer = self._open(CACHE_KB)
        return self._writer.connection

    def _drop_writer(self) -> None:
        if self._writer is not None:
            self._writer.connection.close()
            self._writer = None

    def _close_orphans(self) -> None:
        """Close what threads that died have left open."""
        with self._all_guard:
            orphans = [connection for connection, thread in self._all.items() if not thread.is_alive()]
            for connection in orphans:
                del self._all[connection]
        for connection in orphans:
            connection.close()

    def _open(self, cache_kb: int) -> "_Opened":
        with self.errors_named():
            connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
            try:
                set_pragmas(connection, self._synchronous, cache_kb=cache_kb, busy_timeout_ms=BUSY_TIMEOUT_MS)
                if not self._durable:
                    connection.execute(f"pragma wal_autocheckpoint = {PAGES_UNFOLDED}")
                    connection.execute(f"pragma journal_size_limit = {LONG_LOG_BYTES}")
            except BaseException:
                connection.close()
                raise
            return _Opened(connection, _identity(self.path))


class _Opened(NamedTuple):
    """A connection, and the file that it was opened to."""

    connection: sqlite3.Connection
    identity: tuple[int, int]


def named_error(error: sqlite3.DatabaseError, path: Path) -> StoreError | None:
    """Return the StoreError for *error*, or None when it is a bug rather than a condition of the file."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    primary = code & 0xFF
    if primary == sqlite3.SQLITE_NOTADB:
        condition, hint = _not_a_database(path)
    elif primary in _CONDITIONS:
        condition, hint = _CONDITIONS[primary]
    elif primary == sqlite3.SQLITE_ERROR and "no such table" in str(error):
        condition, hint = _MOVED
    else:
        return None
    return StoreError(f"core.db is {condition}: {path} ({error})", condition=condition, hint=hint)


def _not_a_database(path: Path) -> tuple[str, str]:
    try:
        with path.open("rb") as file:
            magic = file.read(len(SQLITE_MAGIC))
    except OSError:
        magic = b""
    if magic == SQLITE_MAGIC:
        return _CONDITIONS[sqlite3.SQLITE_CORRUPT]
    return "encrypted or not SQLite", "set store.path to another file; flowd leaves this one as it is"


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
