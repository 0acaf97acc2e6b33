"""Every released core.db comes to this version's shape, whole, and with a copy of what was there."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.store import schema
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.store.migrations import BACKUPS_KEPT, migrate, migrations
from flowd.system.errors import StoreError
from tests.support.released_schemas import SCHEMAS, make_released
from tests.support.repository import ROOT

MIGRATOR = ROOT / "tests" / "support" / "migrator.py"
FOREIGN = "create table their_own (id integer primary key, t text); insert into their_own values (7, 'x');"


def fresh(path: Path) -> dict[str, str]:
    migrate(path)
    return shape(path)


def shape(path: Path) -> dict[str, str]:
    """Return the SQL of each table and index."""
    connection = sqlite3.connect(path)
    rows = connection.execute("select name, coalesce(sql, '') from sqlite_master").fetchall()
    connection.close()
    return dict(rows)


def backups(path: Path) -> list[Path]:
    return sorted(schema.backups_dir(path).iterdir()) if schema.backups_dir(path).exists() else []


def test_the_names_that_the_daemon_checks_are_the_registered_migrations(tmp_path: Path) -> None:
    migrate(tmp_path / "core.db")
    connection = sqlite3.connect(tmp_path / "core.db")
    assert tuple(schema.applied_migrations(connection)) == schema.MIGRATION_NAMES
    connection.close()
    assert tuple(migration.name for migration in migrations._migrations) == schema.MIGRATION_NAMES


def test_every_released_schema_has_its_dump() -> None:
    """A new migration comes with tests/store/schemas/<name>.sql, the SQL that leads to its schema."""
    assert sorted(file.stem for file in SCHEMAS.glob("*.sql")) == sorted(schema.MIGRATION_NAMES)


@pytest.mark.parametrize("name", schema.MIGRATION_NAMES)
def test_an_upgrade_from_every_released_schema_keeps_all_rows(tmp_path: Path, name: str) -> None:
    expected = fresh(tmp_path / "fresh.db")
    path = make_released(name, tmp_path / "old" / "core.db")
    migrate(path)
    assert shape(path).keys() == expected.keys()
    database = Database(path)
    assert schema.is_current(database)
    assert [state.title for state in Journal(database).latest_states(9)] == ["T"]
    assert [state.title for state in Journal(database).states_of("/p", "", 9)] == ["T"]
    assert [kept.unpack().offset for kept in Journal(database).sources()] == [10]
    entries = database.connection().execute("select handoff_id, content from handoff_entries").fetchall()
    assert entries == [("hof_aaaaaaaaaaaaaaaaaaaaa", "Hello")]
    database.close()
    is_newest = name == schema.MIGRATION_NAMES[-1]
    assert len(backups(path)) == (0 if is_newest else 1)


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    before = fresh(path)
    content = path.read_bytes()
    migrate(path)
    assert shape(path) == before
    assert path.read_bytes() == content
    assert backups(path) == []


def test_two_processes_at_once_both_succeed_and_migrate_once(tmp_path: Path) -> None:
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    command = [sys.executable, "-m", "flowd.store.migrations", str(path)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    connection = sqlite3.connect(path)
    assert tuple(schema.applied_migrations(connection)) == schema.MIGRATION_NAMES
    connection.close()


def test_two_processes_at_once_make_one_fresh_core_db(tmp_path: Path) -> None:
    path = tmp_path / "new" / "core.db"
    command = [sys.executable, "-m", "flowd.store.migrations", str(path)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, "")
    assert shape(path) == fresh(tmp_path / "other.db")


def test_the_copy_made_before_a_migration_holds_what_was_there(tmp_path: Path) -> None:
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    before = shape(path)
    migrate(path)
    (copy,) = backups(path)
    assert shape(copy) == before
    assert copy.stat().st_mode & 0o777 == 0o600


def test_only_a_few_copies_are_kept_the_newest(tmp_path: Path) -> None:
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    schema.backups_dir(path).mkdir()
    for year in range(2001, 2007):
        (schema.backups_dir(path) / f"core.db.{year}0101T000000Z").touch()
    migrate(path)
    kept = [copy.name for copy in backups(path)]
    assert len(kept) == BACKUPS_KEPT
    assert kept[:2] == ["core.db.20050101T000000Z", "core.db.20060101T000000Z"]


def test_a_copy_that_fails_pushes_no_older_one_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    schema.backups_dir(path).mkdir()
    for year in range(2001, 2004):
        (schema.backups_dir(path) / f"core.db.{year}0101T000000Z").touch()
    before = backups(path)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flowd.store.migrations._copy", fail)
    with pytest.raises(OSError, match="No space"):
        migrate(path)
    assert backups(path) == before


def test_a_migration_that_fails_leaves_the_old_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    before = shape(path)

    def fail(tables: object) -> None:
        tables.execute("create table half_done (x)")  # type: ignore[attr-defined]  # sqlite-utils' Database
        raise RuntimeError("planted")

    last = migrations._migrations[-1]
    monkeypatch.setattr(last, "fn", fail)
    with pytest.raises(RuntimeError, match="planted"):
        migrate(path)
    assert shape(path) == before
    monkeypatch.undo()
    migrate(path)
    assert "half_done" not in shape(path)


def test_tables_of_other_programs_stay_byte_for_byte_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    connection = sqlite3.connect(path)
    connection.executescript(FOREIGN)
    before = list(connection.iterdump())
    connection.close()
    migrate(path)
    connection = sqlite3.connect(path)
    after = list(connection.iterdump())
    assert [row for row in after if "their_own" in row] == [row for row in before if "their_own" in row]
    ours = {name for name in shape(path) if not name.startswith(("flow_", "idx_flow_", "sqlite_", "handoff"))}
    assert ours - {"their_own", "idx_handoff_entries_handoff"} == set()
    connection.close()


def test_a_newer_core_db_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "core.db"
    migrate(path)
    connection = sqlite3.connect(path)
    connection.execute(
        "insert into flow_migrations (migration_set, name, applied_at) values ('flowd', '9999', '2030')"
    )
    connection.commit()
    before = list(connection.iterdump())
    with pytest.raises(StoreError, match="newer flowd") as refused:
        migrate(path)
    assert refused.value.condition == "newer than this flowd"
    assert list(connection.iterdump()) == before
    connection.close()


@pytest.mark.parametrize("words", ["", "Traceback (most recent call last):\n  x\nValueError: odd"])
def test_a_migration_child_that_crashes_is_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    crashed = subprocess.CompletedProcess([], 1, "", words)
    monkeypatch.setattr("flowd.store.schema.subprocess.run", lambda *_, **__: crashed)
    with pytest.raises(StoreError) as raised:
        schema.ensure_current(Database(tmp_path / "core.db"))
    assert raised.value.condition == "not migrated"
    assert str(raised.value).endswith("ValueError: odd" if words else "no reason given")


def test_a_directory_that_cannot_be_made_is_a_condition_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as raised:
        schema.ensure_current(Database(tmp_path / "file" / "core.db"))
    assert raised.value.condition == "cannot open"


@pytest.mark.parametrize("start", ["", *schema.MIGRATION_NAMES[:-1]])
def test_processes_that_open_one_core_db_at_the_same_instant_wait_for_each_other(
    tmp_path: Path, start: str
) -> None:
    template = [str(make_released(start, tmp_path / "old" / "core.db"))] if start else []
    command = [sys.executable, str(MIGRATOR), str(tmp_path / "crowd"), "8", "30", *template]
    crowd = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (crowd.returncode, crowd.stdout, crowd.stderr) == (0, "", "")


def test_a_process_that_waited_for_a_migration_copies_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy of what is migrated already would push out an older one."""
    path = make_released(schema.MIGRATION_NAMES[0], tmp_path / "core.db")
    migrate(path)
    (copy,) = backups(path)
    copy.unlink()
    looks = iter([False, True])  # behind when this process looks first, migrated when its turn has come
    monkeypatch.setattr(schema, "is_current", lambda database: next(looks))
    migrate(path)
    assert backups(path) == []


@pytest.mark.parametrize("planted", ["flowd/__init__.py", "click.py", "struct.py", "sqlite_utils.py"])
def test_nothing_in_the_working_directory_is_imported_by_a_migration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    ran = tmp_path / "ran"
    (tmp_path / planted).parent.mkdir(exist_ok=True)
    (tmp_path / planted).write_text(f"open({str(ran)!r}, 'w').close()\nraise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    schema.ensure_current(Database(tmp_path / "data" / "core.db"))
    assert not ran.exists()
