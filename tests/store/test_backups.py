"""Daily copies of core.db: whole, few, and put back without losing what was there."""

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from flowd.store.backups import DAY_S, EXIT_DAMAGED, KEPT, back_up, daily_backups, is_due, restore
from flowd.system.errors import StoreError


@pytest.fixture
def core(tmp_path: Path) -> Path:
    path = tmp_path / "core.db"
    _write(path, "first")
    return path


def _write(path: Path, word: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("create table if not exists words (word)")
        connection.execute("insert into words values (?)", (word,))


def _words(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [word for (word,) in connection.execute("select word from words order by rowid")]


def _damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executemany("insert into words values (?)", [("x" * 3000,) for _ in range(50)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    data = bytearray(path.read_bytes())
    data[4096 * 2 : 4096 * 6] = b"\xa5" * (4096 * 4)
    path.write_bytes(data)


def test_a_copy_holds_what_was_committed_and_stands_alone(core: Path) -> None:
    with closing(sqlite3.connect(core)) as open_writer:
        open_writer.execute("insert into words values ('not committed')")
        made = back_up(core)
    assert _words(made.path) == ["first"]
    assert made.path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in made.path.parent.iterdir()] == [made.path.name]


def test_a_copy_is_whole_while_others_write(core: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            _write(core, "more")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = back_up(core)
    finally:
        stop.set()
        writer.join()
    assert _words(made.path)[0] == "first"


def test_only_a_few_copies_are_kept(core: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(KEPT + 3):
        monkeypatch.setattr("time.strftime", lambda *_, n=number: f"2026010{n}T000000Z")
        back_up(core)
    assert [backup.path.name[-16:] for backup in daily_backups(core)] == [
        f"2026010{number}T000000Z" for number in range(KEPT + 2, 2, -1)
    ]


def test_a_copy_is_due_once_a_day_even_after_the_clock_was_wrong(core: Path) -> None:
    assert is_due(core, 0.0)
    made = back_up(core)
    assert not is_due(core, made.made_at + 60)
    assert is_due(core, made.made_at + DAY_S)
    assert is_due(core, made.made_at - 10 * DAY_S)
    core.unlink()
    assert not is_due(core, made.made_at + DAY_S)


def test_a_damaged_database_is_refused_and_pushes_no_copy_out(core: Path) -> None:
    kept = back_up(core)
    _damage(core)
    with pytest.raises(StoreError, match=r"damaged|cannot be copied") as caught:
        back_up(core)
    assert "restore-backup" in caught.value.hint
    assert [backup.path for backup in daily_backups(core)] == [kept.path]


def test_a_truncated_database_is_refused(core: Path) -> None:
    _damage(core)
    core.write_bytes(core.read_bytes()[:6000])
    with pytest.raises(StoreError):
        back_up(core)
    assert daily_backups(core) == []


def test_restoring_keeps_the_file_that_was_there(core: Path) -> None:
    made = back_up(core)
    _write(core, "second")
    moved = restore(core, made.path)
    assert _words(core) == ["first"]
    assert moved is not None
    assert _words(moved) == ["first", "second"]


def test_restoring_a_damaged_copy_changes_nothing(core: Path) -> None:
    made = back_up(core)
    _write(core, "second")
    made.path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(StoreError):
        restore(core, made.path)
    assert _words(core) == ["first", "second"]


def test_restoring_serves_also_when_core_db_is_gone(core: Path) -> None:
    made = back_up(core)
    core.unlink()
    assert restore(core, made.path) is None
    assert _words(core) == ["first"]


def test_the_child_process_names_the_damage(core: Path) -> None:
    command = [sys.executable, "-P", "-m", "flowd.store.backups", str(core)]
    assert subprocess.run(command, check=False).returncode == 0
    assert len(daily_backups(core)) == 1
    daily_backups(core)[0].path.unlink()
    _damage(core)
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    assert told.returncode == EXIT_DAMAGED
    assert str(core) in told.stdout
