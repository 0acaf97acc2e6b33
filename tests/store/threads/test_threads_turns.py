"""A crowd of writers: each waits for its turn, and hears of a lock only when its patience ends."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flowd.store.database import Database
from flowd.store.migrations import migrate
from flowd.store.threads import threads as thread_turns
from flowd.store.threads.records import ThreadError
from flowd.store.threads.threads import Threads
from flowd.system.errors import StoreError


@pytest.fixture
def threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Threads]:
    """The threads of a core.db at which SQLite itself waits for 10 ms only."""
    migrate(tmp_path / "core.db")
    monkeypatch.setattr("flowd.store.database.BUSY_TIMEOUT_MS", 10)
    database = Database(tmp_path / "core.db")
    yield Threads(database)
    database.close()


@pytest.fixture
def another_writer(tmp_path: Path, threads: Threads) -> Iterator[sqlite3.Connection]:
    """Another program in the middle of a write."""
    connection = sqlite3.connect(tmp_path / "core.db", isolation_level=None, check_same_thread=False)
    connection.execute("begin immediate")
    yield connection
    connection.close()


def test_a_writer_outwaits_sqlites_own_timeout(
    threads: Threads, another_writer: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = threading.Event()
    monkeypatch.setattr("flowd.store.threads.threads.time.sleep", lambda _: refused.set())
    with ThreadPoolExecutor(1) as pool:
        write = pool.submit(threads.create, title="t", content="c", client="chat")
        assert refused.wait(timeout=30)
        another_writer.execute("commit")
        assert write.result(timeout=30).handoff.status == "active"


def test_readers_and_counts_do_not_wait_for_a_writer(
    threads: Threads, another_writer: sqlite3.Connection
) -> None:
    another_writer.execute("commit")
    handoff_id = threads.create(title="t", content="c", client="chat").handoff.id
    another_writer.execute("begin immediate")
    assert threads.get(handoff_id=handoff_id, client="code").new_count == 1


def test_patience_ends_with_a_named_error_and_nothing_stored(
    threads: Threads, another_writer: sqlite3.Connection
) -> None:
    with pytest.raises(StoreError) as refused, thread_turns.writing(threads.database, timeout_s=0):
        pytest.fail("the turn was given away twice")
    assert refused.value.condition == "locked"
    another_writer.execute("commit")
    with thread_turns.reading(threads.database) as connection:
        assert connection.execute("select count(*) from handoffs").fetchone() == (0,)


def test_other_troubles_are_told_at_once(threads: Threads) -> None:
    threads.database.close()
    threads.database.path.write_bytes(b"no database, and yet a file of some length" * 100)
    with pytest.raises(StoreError, match="encrypted or not SQLite"):
        threads.create(title="t", content="c", client="chat")


def test_a_refused_operation_gives_its_turn_back(threads: Threads, tmp_path: Path) -> None:
    with pytest.raises(ThreadError, match="not found"):
        threads.add(handoff_id="hof_nope", entry_type="done", content="c", client="code")
    other = sqlite3.connect(tmp_path / "core.db", isolation_level=None, timeout=0)
    other.execute("begin immediate")
    other.close()
