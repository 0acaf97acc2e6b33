"""Connections to core.db: one writer at a time, whole transactions, named errors, a WAL that stays small."""

import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flowd.store.database import CHANGES_PER_CHECKPOINT, Database
from flowd.store.migrations import migrate
from flowd.system.errors import StoreError

WRITERS, WRITES = 8, 40


def put(database: Database, name: str, value: int = 1) -> None:
    with database.transaction() as connection:
        connection.execute("insert or replace into flow_counters (name, value) values (?, ?)", (name, value))


def names(database: Database) -> set[str]:
    with database.reading() as connection:
        return {name for (name,) in connection.execute("select name from flow_counters")}


def in_thread(work: Callable[[], object]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def test_threads_write_one_after_the_other_without_asking_sqlite_to_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a busy timeout of 0 two writers at once would be refused by SQLite."""
    monkeypatch.setattr("flowd.store.database.BUSY_TIMEOUT_MS", 0)
    put(database, "total", 0)

    def add(_: int) -> None:
        for _ in range(WRITES):
            with database.transaction() as connection:
                (total,) = connection.execute("select value from flow_counters").fetchone()
                connection.execute("update flow_counters set value = ?", (total + 1,))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(add, range(WRITERS)))
    with database.reading() as connection:
        assert connection.execute("select value from flow_counters").fetchone() == (WRITERS * WRITES,)


def test_a_transaction_reads_what_it_wrote_and_other_threads_only_what_is_committed(
    database: Database,
) -> None:
    with database.transaction() as connection:
        connection.execute("insert into flow_counters (name, value) values ('a', 1)")
        assert names(database) == {"a"}
        in_thread(lambda: pytest.fail("not committed yet") if names(database) else None)
    in_thread(lambda: names(database) or pytest.fail("committed"))


def test_an_exception_rolls_all_of_it_back_and_the_next_thread_may_write(database: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.transaction() as connection:
        connection.executemany("insert into flow_counters (name, value) values (?, 1)", [("a",), ("a",)])
    in_thread(lambda: put(database, "b"))
    assert names(database) == {"b"}


def test_a_transaction_within_a_transaction_is_an_error_instead_of_a_thread_that_hangs(
    database: Database,
) -> None:
    with pytest.raises(RuntimeError, match="within a transaction"), database.transaction():
        put(database, "a")
    put(database, "b")
    assert names(database) == {"b"}


def test_every_commit_changes_the_version_and_reading_does_not(database: Database) -> None:
    versions = [database.version()]
    put(database, "this thread")
    versions.append(database.version())
    in_thread(lambda: put(database, "another thread"))
    versions.append(database.version())
    other = Database(database.path)
    put(other, "another program")
    other.close()
    versions.append(database.version())
    assert len(set(versions)) == 4
    names(database)
    assert database.version() == versions[-1]


@pytest.mark.parametrize(
    ("durable", "synchronous"), [(True, 2), (False, 1)], ids=["FULL: synced", "NORMAL: not each"]
)
def test_commits_are_synced_to_the_disk_unless_they_can_be_repeated(
    database: Database, durable: bool, synchronous: int
) -> None:
    other = Database(database.path, durable=durable)
    assert other.connection().execute("pragma synchronous").fetchone() == (synchronous,)
    other.close()


def break_into_garbage(path: Path) -> None:
    path.write_bytes(b"no database, and yet a file of some length" * 100)


def break_behind_the_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * (path.stat().st_size - 100))


def drop_the_tables(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("drop table flow_counters")
    connection.close()


@pytest.mark.parametrize(
    ("damage", "condition"),
    [
        (break_into_garbage, "encrypted or not SQLite"),
        (break_behind_the_header, "corrupt"),
        (drop_the_tables, "moved or replaced"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot open"),
    ],
    ids=["garbage", "corrupt", "no tables", "a directory"],
)
def test_a_damaged_file_is_named_with_a_hint(
    database: Database, damage: Callable[[Path], object], condition: str
) -> None:
    database.close()
    for log in database.path.parent.glob("core.db-*"):
        log.unlink()
    damage(database.path)
    with pytest.raises(StoreError) as raised:
        put(database, "a")
    assert raised.value.condition == condition
    assert str(database.path) in str(raised.value)
    assert raised.value.hint


def test_a_full_file_is_named_and_serves_again_when_there_is_room(database: Database) -> None:
    pages = database.connection().execute("pragma page_count").fetchone()[0]
    database.connection().execute(f"pragma max_page_count = {pages}")
    with pytest.raises(StoreError) as raised, database.transaction() as connection:
        connection.execute("insert into flow_counters (name, value) values (?, 1)", ("x" * 100_000,))
    assert raised.value.condition == "full"
    put(database, "a")  # through a new connection, without the limit
    assert names(database) == {"a"}


def test_a_lock_of_another_program_is_named(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowd.store.database.BUSY_TIMEOUT_MS", 1)
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreError) as raised:
        put(database, "a")
    assert raised.value.condition == "locked"
    other.close()
    put(database, "a")


def test_a_bug_in_a_statement_keeps_its_own_error(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="syntax error"), database.reading() as connection:
        connection.execute("selekt 1")


def test_a_waiting_thread_is_refused_with_the_one_before_it_instead_of_waiting_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten threads that wait for a locked core.db wait once, not one after the other; later ones try again."""
    monkeypatch.setattr("flowd.store.database.BUSY_TIMEOUT_MS", 1)
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("begin immediate")
    with pytest.raises(StoreError):
        put(database, "a")
    other.close()
    database._locked_at += 3600  # as if this thread had asked before the other was refused
    with pytest.raises(StoreError) as raised:
        put(database, "a")
    assert raised.value.condition == "locked"
    database._locked_at -= 3600
    put(database, "b")


def test_a_file_that_was_replaced_is_refused_until_the_connection_is_dropped(
    database: Database, tmp_path: Path
) -> None:
    put(database, "old")
    migrate(tmp_path / "new.db")
    (tmp_path / "new.db").replace(database.path)
    for log in database.path.parent.glob("core.db-*"):
        log.unlink()
    for _ in range(2):
        with pytest.raises(StoreError) as raised:
            put(database, "new")
        assert raised.value.condition == "moved or replaced"
    database.drop_connection()
    put(database, "new")
    assert names(database) == {"new"}


def test_a_connection_that_failed_to_write_is_not_used_again(database: Database) -> None:
    """One that was opened to a read-only file stays read-only, also when the file is writable again."""
    first = database.connection()
    first.execute("pragma query_only = on")
    with pytest.raises(StoreError) as raised:
        put(database, "a")
    assert raised.value.condition == "read-only"
    put(database, "a")
    assert database.connection() is not first


def test_dropping_the_connection_leaves_those_of_other_threads_open(database: Database) -> None:
    opened, dropped = threading.Event(), threading.Event()

    def hold() -> None:
        connection = database.connection()
        opened.set()
        assert dropped.wait(10)
        assert connection.execute("select 1").fetchone() == (1,)

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        assert opened.wait(10)
        database.connection()
        database.drop_connection()
        dropped.set()
        held.result()


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
def test_connections_of_threads_that_ended_are_closed(database: Database) -> None:
    def open_files() -> int:
        links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
        return sum(os.path.realpath(link) == str(database.path) for link in links)

    for _ in range(5):
        in_thread(database.connection)
    in_thread(lambda: open_files() <= 2 or pytest.fail("connections are left open"))
    database.close()
    assert open_files() == 0


def test_a_closed_database_opens_again_when_it_is_used(database: Database) -> None:
    put(database, "a")
    database.close()
    assert names(database) == {"a"}


def test_a_checkpoint_moves_the_wal_into_core_db_and_a_commit_does_not(database: Database) -> None:
    quick = Database(database.path, durable=False)
    copy = Database(database.path.with_name("copy.db"))
    for number in range(CHANGES_PER_CHECKPOINT):
        put(quick, f"n{number}")
    assert quick.wal_is_large
    shutil.copy(quick.path, copy.path)
    assert names(copy) == set()
    copy.close()
    quick.checkpoint_wal()
    assert not quick.wal_is_large
    shutil.copy(quick.path, copy.path)
    assert len(names(copy)) == CHANGES_PER_CHECKPOINT
    copy.close()
    quick.close()


def test_a_large_wal_starts_over_after_a_checkpoint(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.store.database.LARGE_WAL_BYTES", 100_000)
    quick, wal = Database(database.path, durable=False), Path(f"{database.path}-wal")
    sizes = []
    for _ in range(3):
        for number in range(100):
            put(quick, f"n{number}")
        sizes.append(wal.stat().st_size)
        quick.checkpoint_wal()
    assert sizes[0] > 100_000
    assert max(sizes) <= 1.2 * sizes[0]
    quick.close()


def test_the_rest_of_a_large_wal_is_moved_while_writers_wait(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowd.store.database.LARGE_WAL_BYTES", 0)
    put(database, "a")
    steps: list[tuple[str, bool]] = []
    database.connection().set_trace_callback(
        lambda statement: steps.append((statement, database._write_lock.locked()))
    )
    database.checkpoint_wal()
    assert [is_locked for statement, is_locked in steps if "wal_checkpoint" in statement] == [False, True]


def test_a_connection_serves_on_after_it_was_shrunk(database: Database) -> None:
    for name in ("a", "b"):
        put(database, name)
        database.shrink()
    assert names(database) == {"a", "b"}


def test_a_thread_that_has_opened_nothing_opens_nothing_to_shrink(tmp_path: Path) -> None:
    database = Database(tmp_path / "core.db")
    in_thread(database.shrink)
    assert not (tmp_path / "core.db").exists()
