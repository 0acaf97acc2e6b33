"""Connections to core.db: what they keep in memory can be given back."""

import threading
from pathlib import Path

from flowd.store.database import Database
from flowd.store.migrations import migrate


def test_a_connection_serves_on_after_it_was_shrunk(tmp_path: Path) -> None:
    """Reading and writing go on as if nothing had been given back."""
    migrate(tmp_path / "core.db")
    database = Database(tmp_path / "core.db")
    for value in (1, 2):
        with database.transaction() as connection:
            connection.execute("insert into flow_counters (name, value) values (?, ?)", (f"n{value}", value))
        database.shrink()
    with database.reading() as connection:
        assert connection.execute("select sum(value) from flow_counters").fetchone() == (3,)
    database.close()


def test_a_thread_that_has_opened_nothing_opens_nothing_to_shrink(tmp_path: Path) -> None:
    """Giving back must not cost a connection."""
    database = Database(tmp_path / "core.db")
    thread = threading.Thread(target=database.shrink)
    thread.start()
    thread.join()
    assert not (tmp_path / "core.db").exists()
