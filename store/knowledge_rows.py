"""Many rows in few statements."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

# An older SQLite takes no more.
MOST_VALUES = 999
# Up to here each number of rows has a statement of its own.
ROWS_IN_ONE = 16


def write_rows(connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run *statement* with all *rows*, in their order, where it says ``{rows}``.

    Before each statement SQLite has the full-text index write out what it gathered, and after each
    row of ``executemany`` Python's lock is asked for again: both cost more than the row itself.
    """
    done = 0
    while done < len(rows):
        size = _size(len(rows) - done, MOST_VALUES // len(rows[0]))
        values = [value for row in rows[done : done + size] for value in row]
        connection.execute(_with_rows(statement, size, len(rows[0])), values)
        done += size


def _size(left: int, most: int) -> int:
    """Return how many rows to write now: one of few numbers, so that each statement is parsed once."""
    return left if left <= ROWS_IN_ONE else 1 << (min(left, most).bit_length() - 1)


@lru_cache(maxsize=64)
def _with_rows(statement: str, size: int, width: int) -> str:
    row = f"({', '.join('?' * width)})"
    return statement.format(rows=", ".join([row] * size))
