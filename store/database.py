"""Connections to core.db: one per thread, one thread writes at a time, errors get a condition and a hint."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flowd.store.conditions import locked_error, moved_error, named_error

BUSY_TIMEOUT_MS = 5000
CACHE_KB = 512
# A checkpoint moves the WAL into core.db, outside of commits; SQLite's own one is only the fallback.
CHANGES_PER_CHECKPOINT = 500
AUTOCHECKPOINT_PAGES = 4_000
LARGE_WAL_BYTES = 8 << 20
WAL_RETRY_S = 0.005


class Database:
    """One core.db. Each thread has its own connection; a lock lets one of them write at a time."""

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        """Open nothing yet.

        With ``durable=False`` a power cut may lose the last commits, but never corrupts the file. The
        reader of transcripts uses it, because it can read them again; a user's input needs
        ``durable=True``. Its caller also has to run ``checkpoint_wal``: commits do not.
        """
        self.path = path
        self._durable = durable
        self._synchronous = "FULL" if durable else "NORMAL"
        self._local = threading.local()
        self._write_lock = threading.Lock()
        self._writing_thread = 0
        self._locked_at = 0.0
        self._changes = 0
        self._commits = 0
        self._connections: dict[sqlite3.Connection, threading.Thread] = {}
        self._connections_lock = threading.Lock()

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection; raise StoreError if the file is no longer the opened one."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is None:
            opened = self._local.opened = self._open()
            self._close_orphans()
            with self._connections_lock:
                self._connections[opened.connection] = threading.current_thread()
        elif _identity(self.path) != opened.identity:
            # SQLite would silently go on writing into the deleted file.
            raise moved_error(self.path)
        return opened.connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one write transaction; roll back on any exception. Does not nest."""
        if self._writing_thread == threading.get_ident():
            raise RuntimeError("a transaction within a transaction would wait for itself")
        requested_at = time.monotonic()
        with self._write_lock, self.errors_named():
            connection = self.connection()
            self._writing_thread = threading.get_ident()
            try:
                with self._writing(connection, requested_at):
                    yield connection
            finally:
                self._writing_thread = 0

    @contextmanager
    def _writing(self, connection: sqlite3.Connection, requested_at: float) -> Iterator[None]:
        changes = connection.total_changes
        try:
            self._begin(connection, requested_at)
            yield
            connection.execute("commit")
            self._changes += connection.total_changes - changes
            self._commits += 1
        except BaseException as error:
            if connection.in_transaction:
                connection.execute("rollback")
            if isinstance(error, sqlite3.DatabaseError):
                # A connection may never recover: one to a read-only file stays read-only.
                self.drop_connection()
            raise

    def _begin(self, connection: sqlite3.Connection, requested_at: float) -> None:
        """Begin to write; fail at once if another thread has waited in vain since *requested_at*."""
        if self._locked_at > requested_at:
            raise locked_error(self.path)
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                self._locked_at = time.monotonic()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Run the block's queries; sqlite3 errors become StoreErrors."""
        with self.errors_named():
            yield self.connection()

    @contextmanager
    def errors_named(self) -> Iterator[None]:
        """Convert sqlite3 errors into a StoreError with condition, file and hint."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            named = named_error(error, self.path)
            if named is None:
                raise
            raise named from error

    def version(self) -> int:
        """Return a number that changes, for this thread, when any connection has written to core.db."""
        with self.reading() as connection:
            # SQLite's number rises with the commits of other connections, not with those of this thread.
            (version,) = connection.execute("pragma data_version").fetchone()
            return int(version) + self._commits

    @property
    def wal_is_large(self) -> bool:
        """Whether enough was written since the last ``checkpoint_wal`` to make one worthwhile."""
        return self._changes >= CHANGES_PER_CHECKPOINT

    def checkpoint_wal(self) -> None:
        """Move the write-ahead log into core.db while other threads write.

        A WAL that is written to all the time never restarts from its beginning: when it is large, the
        rest is moved while writers wait.
        """
        self._changes = 0
        with self.reading() as connection:
            connection.execute("pragma wal_checkpoint(passive)")
            if _size(f"{self.path}-wal") > LARGE_WAL_BYTES:
                with self._write_lock:
                    connection.execute("pragma wal_checkpoint(passive)")

    def shrink(self) -> None:
        """Free the page cache of this thread's connection."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is not None:
            with self.errors_named():
                opened.connection.execute("pragma shrink_memory")

    def drop_connection(self) -> None:
        """Close this thread's connection; the next use opens the file again."""
        opened: _Opened | None = getattr(self._local, "opened", None)
        if opened is not None:
            self._local.opened = None
            with self._connections_lock:
                self._connections.pop(opened.connection, None)
            opened.connection.close()

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._connections_lock:
            connections, self._connections = self._connections, {}
        self._local = threading.local()
        for connection in connections:
            connection.close()

    def _close_orphans(self) -> None:
        """Close the connections of threads that have ended."""
        with self._connections_lock:
            orphans = [
                connection for connection, thread in self._connections.items() if not thread.is_alive()
            ]
            for connection in orphans:
                del self._connections[connection]
        for connection in orphans:
            connection.close()

    def _open(self) -> "_Opened":
        with self.errors_named():
            connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
            )
            try:
                set_pragmas(connection, self._synchronous, cache_kb=CACHE_KB, busy_timeout_ms=BUSY_TIMEOUT_MS)
                if not self._durable:
                    connection.execute(f"pragma wal_autocheckpoint = {AUTOCHECKPOINT_PAGES}")
                    connection.execute(f"pragma journal_size_limit = {LARGE_WAL_BYTES}")
            except BaseException:
                connection.close()
                raise
            return _Opened(connection, _identity(self.path))


class _Opened(NamedTuple):
    """A connection, and the device and inode of the file that it opened."""

    connection: sqlite3.Connection
    identity: tuple[int, int]


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


def set_pragmas(
    connection: sqlite3.Connection, synchronous: str, *, cache_kb: int, busy_timeout_ms: int
) -> None:
    """Bring *connection* to the settings that every program sharing core.db agrees on."""
    connection.execute(f"pragma busy_timeout = {busy_timeout_ms}")
    _switch_to_wal(connection, busy_timeout_ms / 1000)
    connection.execute("pragma foreign_keys = on")
    connection.execute(f"pragma synchronous = {synchronous}")
    # The daemon has a connection per thread: SQLite's usual 2 MB for each would be most of its memory.
    connection.execute(f"pragma cache_size = -{cache_kb}")


def _switch_to_wal(connection: sqlite3.Connection, timeout_s: float) -> None:
    """Switch a new file to WAL mode; wait as for any other lock while another process does the same.

    SQLite does not call its busy handler here: two connections that both want the exclusive lock would
    wait for each other, so one gets SQLITE_BUSY at once and has to ask again.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            # Asking first keeps a read-only file readable: setting WAL again would be a write.
            if connection.execute("pragma journal_mode").fetchone()[0] != "wal":
                connection.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(WAL_RETRY_S)
        else:
            return
