"""Turns at core.db that outlast a crowd of writers."""

import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol

from flowd.config.errors import StoreError
from flowd.store.database import Database

# SQLite's own wait polls without a queue, so a busy crowd can starve one waiter past its timeout.
PATIENCE_S = 60.0
PAUSE_S = 0.02


class Turn(Protocol):
    """Something that opens a turn at the database."""

    def __call__(self) -> AbstractContextManager[sqlite3.Connection]: ...


@contextmanager
def writing(database: Database, *, patience_s: float = PATIENCE_S) -> Iterator[sqlite3.Connection]:
    """Run the block as one write, waiting up to *patience_s* for the turn."""
    with ExitStack() as stack:
        yield _enter(stack, database.transaction, patience_s)


@contextmanager
def reading(database: Database, *, patience_s: float = PATIENCE_S) -> Iterator[sqlite3.Connection]:
    """Run the block's queries on one snapshot, waiting up to *patience_s* for it."""
    with ExitStack() as stack:
        yield _enter(stack, lambda: _snapshot(database), patience_s)


def _enter(stack: ExitStack, turn: Turn, patience_s: float) -> sqlite3.Connection:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return stack.enter_context(turn())
        except StoreError as error:
            if error.condition != "locked" or time.monotonic() >= deadline:
                raise
            # Some refusals come at once, without SQLite's own wait; a pause keeps the crowd from spinning.
            time.sleep(random.uniform(0.001, PAUSE_S))  # noqa: S311 jitter, no secret


@contextmanager
def _snapshot(database: Database) -> Iterator[sqlite3.Connection]:
    with database.reading() as connection:
        connection.execute("begin")
        try:
            # The snapshot starts with the first query, not with begin; take it while waiting is possible.
            connection.execute("select 1 from sqlite_master limit 1").fetchone()
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("rollback")
