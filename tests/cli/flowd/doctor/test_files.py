"""``flowd doctor`` looks at core.db and leaves it as it is."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from flowd.cli.flowd.doctor.files import check_database
from flowd.cli.flowd.doctor.finding import CheckResult, gather_context
from flowd.config.paths import resolve_paths
from flowd.store.database import Database
from flowd.store.migrations import migrate


@pytest.fixture
def file() -> Path:
    """A current core.db that nobody has open."""
    file = resolve_paths().database
    migrate(file)
    return file


def finding() -> CheckResult:
    return check_database(gather_context(resolve_paths()))


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)


def test_no_database_yet_is_no_trouble_and_none_is_made() -> None:
    assert finding().level == "info"
    assert not resolve_paths().database.exists()


def test_a_good_one_is_ok_and_nothing_appears_beside_it(file: Path) -> None:
    before = sorted(file.parent.iterdir()), file.read_bytes(), file.stat().st_mtime_ns
    assert finding().level == "ok"
    assert (sorted(file.parent.iterdir()), file.read_bytes(), file.stat().st_mtime_ns) == before


def test_one_that_is_in_use_is_read_with_what_its_writer_has_not_moved_yet(file: Path) -> None:
    database = Database(file)
    with database.transaction() as connection:
        connection.execute(
            "insert into flow_migrations (migration_set, name, applied_at) values ('flowd', '9999', '')"
        )
    assert file.with_name("core.db-wal").stat().st_size > 0
    assert "newer flowd (9999)" in finding().seen
    database.close()


def test_an_older_shape_is_a_warning_that_the_next_start_ends(file: Path) -> None:
    change(file, "delete from flow_migrations where rowid > 1")
    seen = finding()
    assert (seen.level, seen.fix) == ("warning", "flowd restart")
    assert "older schema" in seen.seen


def test_a_journal_that_is_no_wal_is_a_warning(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("pragma journal_mode = delete")
    assert finding().seen == f"{file} is not in WAL mode"


@pytest.mark.parametrize(
    ("damage", "condition"),
    [
        (lambda raw: b"\x8f" * len(raw), "encrypted or not SQLite"),
        (lambda raw: raw[:4096] + b"\xff" * (len(raw) - 4096), "corrupt"),
        (lambda raw: raw[:100], "corrupt"),
    ],
    ids=["encrypted", "overwritten", "cut off"],
)
def test_a_damaged_one_is_trouble_named_and_left_alone(file: Path, damage: object, condition: str) -> None:
    assert callable(damage)
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    seen = finding()
    assert seen.level == "trouble"
    assert condition in seen.seen
    assert seen.fix
    assert file.read_bytes() == before


def test_the_database_of_the_settings_is_the_one_that_is_looked_at(tmp_path: Path) -> None:
    config = resolve_paths().config_file
    config.parent.mkdir(parents=True)
    config.write_text(f"store:\n  path: {tmp_path}/brain.db\n")
    (tmp_path / "brain.db").write_bytes(b"not a database, for certain" * 100)
    assert str(tmp_path / "brain.db") in finding().seen
