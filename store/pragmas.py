"""The settings of a connection to core.db."""

import sqlite3
import time

WAL_RETRY_S = 0.005


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
