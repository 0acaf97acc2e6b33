"""The functions of the handoff specification, on real files."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowd import handoff
from flowd.handoff.yaml.api import read_handoff
from flowd.handoff.yaml.storage import MAX_BROKEN_KEPT
from flowd.system.errors import FlowdError

VALID = {"goal": "Ship it", "status": "in_progress", "now": "Testing"}


def write_raw(root: Path, text: str | bytes) -> Path:
    """Put *text* where the handoff of *root* belongs, as a person or another tool would."""
    path = root / ".flow-guardian" / "handoff.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def names(root: Path) -> list[str]:
    """Return what lies in the folder of *root*."""
    return sorted(entry.name for entry in (root / ".flow-guardian").iterdir())


def test_a_missing_file_is_no_handoff(tmp_path: Path) -> None:
    assert handoff.load_handoff(tmp_path) is None


def test_loading_makes_the_folder_and_it_ignores_itself(tmp_path: Path) -> None:
    handoff.load_handoff(tmp_path)
    assert (tmp_path / ".flow-guardian" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".flow-guardian").stat().st_mode & 0o777 == 0o700


def test_reading_creates_nothing_and_finds_what_loading_finds(tmp_path: Path) -> None:
    assert read_handoff(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    handoff.save_handoff(VALID, tmp_path)
    assert read_handoff(tmp_path) == handoff.load_handoff(tmp_path)


def test_a_project_that_is_gone_has_no_handoff_to_read(tmp_path: Path) -> None:
    assert read_handoff(tmp_path / "gone") is None
    (tmp_path / "file").touch()
    with pytest.raises(handoff.HandoffError):
        read_handoff(tmp_path / "file")


def test_a_folder_that_was_there_gets_no_gitignore(tmp_path: Path) -> None:
    (tmp_path / ".flow-guardian").mkdir()
    handoff.save_handoff(VALID, tmp_path)
    assert names(tmp_path) == ["handoff.yaml"]


def test_saving_creates_what_is_missing_and_returns_the_path(tmp_path: Path) -> None:
    root = tmp_path / "not" / "yet"
    path = handoff.save_handoff(VALID, root)
    assert path == root / ".flow-guardian" / "handoff.yaml" == handoff.get_handoff_path(root)
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(root) == [".gitignore", "handoff.yaml"]


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    data = {
        **VALID,
        "files": ["a.py"],
        "outcome": None,
        "timestamp": "2026-01-17T10:30:00+00:00",
        "x": {"y": 1},
    }
    handoff.save_handoff(data, tmp_path)
    assert handoff.load_handoff(tmp_path) == data


def test_the_root_is_found_from_a_nested_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert handoff.save_handoff(VALID) == tmp_path / ".flow-guardian" / "handoff.yaml"
    assert not (tmp_path / "a" / "b" / ".flow-guardian").exists()
    assert handoff.clear_handoff()


@pytest.mark.parametrize("field", ["goal", "now"])
@pytest.mark.parametrize("value", [None, "", " \n", 5, ["x"]])
def test_saving_names_the_field_that_says_nothing(tmp_path: Path, field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"^Missing or empty required field: {field}$") as caught:
        handoff.save_handoff({**VALID, field: value}, tmp_path)
    assert isinstance(caught.value, FlowdError)
    assert isinstance(caught.value, handoff.HandoffValidationError)
    assert not (tmp_path / ".flow-guardian").exists()


def test_saving_names_a_missing_status(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^Missing required field: status$"):
        handoff.save_handoff({"goal": "g", "now": "n"}, tmp_path)


def test_saving_names_the_statuses_there_are(tmp_path: Path) -> None:
    expected = "^Invalid status 'done'. Must be one of: blocked, completed, in_progress$"
    with pytest.raises(ValueError, match=expected):
        handoff.save_handoff({**VALID, "status": "done"}, tmp_path)


def test_a_value_yaml_cannot_hold_names_its_field(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^Cannot write a object in field: extra$"):
        handoff.save_handoff({**VALID, "extra": object()}, tmp_path)


def test_data_that_contains_itself_is_refused(tmp_path: Path) -> None:
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="extra"):
        handoff.save_handoff({**VALID, "extra": loop}, tmp_path)


def test_the_callers_dictionary_is_left_alone(tmp_path: Path) -> None:
    data = {"goal": "g", "status": "blocked", "now": "n", "files": ["a"]}
    before = json.dumps(data)
    handoff.save_handoff(data, tmp_path)
    handoff.update_handoff(data, tmp_path)
    assert json.dumps(data) == before


def test_an_update_merges_and_moves_the_timestamp(tmp_path: Path) -> None:
    handoff.save_handoff({**VALID, "hypothesis": "h", "timestamp": "2020-01-01T00:00:00Z"}, tmp_path)
    result = handoff.update_handoff({"now": "Fixing", "timestamp": "2021-01-01T00:00:00Z"}, tmp_path)
    assert result == handoff.load_handoff(tmp_path)
    assert {**result, "timestamp": ""} == {**VALID, "now": "Fixing", "hypothesis": "h", "timestamp": ""}
    assert str(result["timestamp"]) > "2026"


def test_the_first_update_fills_what_is_required(tmp_path: Path) -> None:
    result = handoff.update_handoff({"goal": "Ship"}, tmp_path)
    assert (result["goal"], result["status"], result["now"]) == ("Ship", "in_progress", "Ship")
    assert handoff.clear_handoff(tmp_path)
    result = handoff.update_handoff({"session_id": "s"}, tmp_path)
    assert (result["goal"], result["now"]) == ("Working on project", "Working on project")


def test_a_file_of_nulls_is_updated_with_defaults(tmp_path: Path) -> None:
    write_raw(tmp_path, "# made by setup\ngoal: null\nstatus: null\nnow: null\ntimestamp: null\n")
    result = handoff.update_handoff({"now": "Reading"}, tmp_path)
    assert list(result) == ["goal", "status", "now", "timestamp"]
    assert (result["goal"], result["status"], result["now"]) == (
        "Working on project",
        "in_progress",
        "Reading",
    )


def test_a_null_update_of_a_required_field_changes_nothing(tmp_path: Path) -> None:
    handoff.save_handoff(VALID, tmp_path)
    result = handoff.update_handoff({"goal": None, "now": "  ", "status": "", "hypothesis": None}, tmp_path)
    assert {key: result[key] for key in VALID} == VALID
    assert result["hypothesis"] is None


def test_an_update_with_a_bad_status_leaves_the_file(tmp_path: Path) -> None:
    path = handoff.save_handoff(VALID, tmp_path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="Invalid status"):
        handoff.update_handoff({"status": "odd"}, tmp_path)
    assert path.read_bytes() == before


def test_unknown_keys_order_and_leading_comments_survive(tmp_path: Path) -> None:
    path = write_raw(
        tmp_path, "# mine\n\n# keep: this\nzeta: 1\nnow: a\nstatus: blocked\nalpha: [x]\ngoal: g\n"
    )
    handoff.update_handoff({"now": "b"}, tmp_path)
    text = path.read_text()
    assert text.startswith("# mine\n\n# keep: this\nzeta: 1\nnow: b\n")
    assert list(yaml.safe_load(text)) == ["zeta", "now", "status", "alpha", "goal", "timestamp"]
    handoff.update_handoff({"now": "c"}, tmp_path)
    assert path.read_text().count("# mine") == 1


def test_a_new_file_has_its_fields_in_the_order_of_the_schema(tmp_path: Path) -> None:
    given = {
        "mine": 1,
        "session_id": "s",
        "files": [],
        "now": "n",
        "branch": "b",
        "status": "blocked",
        "goal": "g",
    }
    path = handoff.save_handoff(given, tmp_path)
    in_order = ["goal", "status", "now", "files", "branch", "timestamp", "session_id", "mine"]
    assert list(yaml.safe_load(path.read_text())) == in_order
    handoff.update_handoff({"yours": 2, "outcome": "o"}, tmp_path)
    assert list(yaml.safe_load(path.read_text())) == [*in_order[:3], "outcome", *in_order[3:], "yours"]


@pytest.mark.parametrize(
    "change", [{"now": "x" * 300_000}, {"files": [f"src/{n}/module.py" for n in range(15_000)]}]
)
def test_more_than_a_reader_takes_is_refused_and_the_file_stays(
    tmp_path: Path, change: dict[str, object]
) -> None:
    path = handoff.save_handoff(VALID, tmp_path)
    before = path.read_bytes()
    with pytest.raises(handoff.HandoffValidationError, match="more than the limit of"):
        handoff.update_handoff(change, tmp_path)
    with pytest.raises(ValueError, match="more than the limit of"):
        handoff.save_handoff({**VALID, **change}, tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [None, [], "goal"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, data: Any) -> None:
    with pytest.raises(ValueError, match="A handoff is a mapping"):
        handoff.save_handoff(data, tmp_path)


def test_comments_after_a_document_marker_survive(tmp_path: Path) -> None:
    path = write_raw(tmp_path, "---\n# mine\ngoal: g\nstatus: blocked\nnow: n\n")
    handoff.update_handoff({"now": "b"}, tmp_path)
    assert path.read_text().startswith("---\n# mine\ngoal: g\n")
    assert handoff.load_handoff(tmp_path) is not None


def test_the_file_is_written_for_people(tmp_path: Path) -> None:
    long = "word " * 60 + "end"
    path = handoff.save_handoff(
        {**VALID, "goal": "Größe 🚀", "now": "one\ntwo", "hypothesis": long}, tmp_path
    )
    text = path.read_text(encoding="utf-8")
    assert "goal: Größe 🚀\n" in text
    assert "now: |-\n  one\n  two\n" in text
    assert f"hypothesis: {long}\n" in text


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("2026-01-17T10:30:00Z", "2026-01-17T10:30:00+00:00"),
        ("2026-01-17T12:30:00+02:00", "2026-01-17T10:30:00+00:00"),
        (datetime(2026, 1, 17, 10, 30, tzinfo=UTC), "2026-01-17T10:30:00+00:00"),
        (datetime(2026, 1, 17, 5, 30, tzinfo=timezone(timedelta(hours=-5))), "2026-01-17T10:30:00+00:00"),
        (datetime(2026, 1, 17, 10, 30), "2026-01-17T10:30:00+00:00"),
        ("2026-01-17T10:30:00", "2026-01-17T10:30:00+00:00"),
    ],
)
def test_every_kind_of_timestamp_is_written_as_utc_text(tmp_path: Path, given: object, written: str) -> None:
    path = handoff.save_handoff({**VALID, "timestamp": given}, tmp_path)
    assert yaml.safe_load(path.read_text())["timestamp"] == written


@pytest.mark.parametrize("absent", [None, "", "missing"])
def test_an_absent_timestamp_is_now(tmp_path: Path, absent: str | None) -> None:
    data = VALID if absent == "missing" else {**VALID, "timestamp": absent}
    path = handoff.save_handoff(data, tmp_path)
    moment = datetime.fromisoformat(yaml.safe_load(path.read_text())["timestamp"])
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


def test_a_timestamp_that_is_no_moment_names_the_field(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Invalid timestamp 'yesterday'"):
        handoff.save_handoff({**VALID, "timestamp": "yesterday"}, tmp_path)


@pytest.mark.parametrize(
    "raw", ["2026-01-17T10:30:00Z", "2026-01-17 10:30:00", "'2026-01-17T10:30:00'", "2026-01-17"]
)
def test_timestamps_load_as_text_that_json_can_hold(tmp_path: Path, raw: str) -> None:
    write_raw(tmp_path, f"goal: g\nstatus: blocked\nnow: n\ndue: 2026-01-02\ntimestamp: {raw}\n")
    loaded = handoff.load_handoff(tmp_path)
    assert loaded is not None
    assert str(loaded["timestamp"]).endswith("+00:00")
    assert json.loads(json.dumps(loaded))["due"] == "2026-01-02"


@pytest.mark.parametrize("raw", ["", "\n\n", "# only words\n", "---\n"])
def test_an_empty_file_is_no_handoff(tmp_path: Path, raw: str) -> None:
    write_raw(tmp_path, raw)
    assert handoff.load_handoff(tmp_path) is None
    handoff.update_handoff({"now": "x"}, tmp_path)
    assert [name for name in names(tmp_path) if "broken" in name] == []


BROKEN = [
    "goal: [unclosed",
    "- a\n- list\n",
    "just words",
    "a: 1\n---\nb: 2\n",
    b"\xff\xfe\x00g",
    "a: !!binary aGk=\n",
]


@pytest.mark.parametrize("raw", BROKEN)
def test_a_broken_file_loads_as_none_with_a_warning(
    tmp_path: Path, raw: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_raw(tmp_path, raw)
    assert handoff.load_handoff(tmp_path) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(path) in caplog.text
    assert names(tmp_path) == ["handoff.yaml"]


@pytest.mark.parametrize("raw", BROKEN)
def test_a_broken_file_is_kept_aside_before_it_is_replaced(tmp_path: Path, raw: str | bytes) -> None:
    path = write_raw(tmp_path, raw)
    before = path.read_bytes()
    handoff.update_handoff({"now": "x"}, tmp_path)
    assert (path.parent / "handoff.yaml.broken-1").read_bytes() == before
    assert handoff.load_handoff(tmp_path) is not None


def test_the_number_of_broken_files_kept_is_bounded(tmp_path: Path) -> None:
    for number in range(MAX_BROKEN_KEPT + 3):
        path = write_raw(tmp_path, f"[{number}")
        os.utime(path, (number, number))
        handoff.save_handoff(VALID, tmp_path)
    kept = [path for path in (tmp_path / ".flow-guardian").iterdir() if "broken" in path.name]
    assert sorted(path.read_text() for path in kept) == ["[3", "[4", "[5", "[6", "[7"]


def test_a_warning_quotes_nothing_of_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_raw(tmp_path, "key: hunter2 : {hunter2\n")
    assert handoff.load_handoff(tmp_path) is None
    assert "hunter2" not in caplog.text
    assert "line 1" in caplog.text


def test_clearing_deletes_the_file_and_keeps_the_folder(tmp_path: Path) -> None:
    assert handoff.clear_handoff(tmp_path) is False
    assert not (tmp_path / ".flow-guardian").exists()
    handoff.save_handoff(VALID, tmp_path)
    assert handoff.clear_handoff(tmp_path) is True
    assert names(tmp_path) == [".gitignore"]
    assert handoff.clear_handoff(tmp_path) is False


def test_a_failed_write_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = handoff.save_handoff(VALID, tmp_path)
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flowd.handoff.yaml.storage.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left on device") as caught:
        handoff.update_handoff({"now": "x"}, tmp_path)
    assert isinstance(caught.value, FlowdError)
    assert path.read_bytes() == before
    assert names(tmp_path) == [".gitignore", "handoff.yaml"]


def test_temporaries_of_writers_that_died_are_swept(tmp_path: Path) -> None:
    write_raw(tmp_path, "goal: g")
    (tmp_path / ".flow-guardian" / ".handoff.yaml.1-2-ab.tmp").write_text("half")
    handoff.update_handoff({"now": "x"}, tmp_path)
    assert names(tmp_path) == ["handoff.yaml"]


@pytest.fixture
def unprivileged() -> Iterator[Path]:
    """Give a folder of a user whom permissions bind, acting as nobody when the tests run as root."""
    with tempfile.TemporaryDirectory() as directory:
        nobody = 65534
        if os.geteuid() == 0:
            os.chown(directory, nobody, nobody)
            os.seteuid(nobody)
        try:
            yield Path(directory).resolve()
        finally:
            if os.getuid() == 0:
                os.seteuid(0)


def test_an_unreadable_file_raises_a_clear_permission_error(unprivileged: Path) -> None:
    path = handoff.save_handoff(VALID, unprivileged)
    path.chmod(0)
    with pytest.raises(PermissionError, match=f"^Permission denied reading {path}$") as caught:
        handoff.load_handoff(unprivileged)
    assert isinstance(caught.value, FlowdError)
    assert caught.value.hint


def test_an_unwritable_folder_raises_a_clear_permission_error(unprivileged: Path) -> None:
    path = handoff.save_handoff(VALID, unprivileged)
    path.parent.chmod(0o500)
    with pytest.raises(PermissionError, match=r"^Permission denied writing "):
        handoff.update_handoff({"now": "x"}, unprivileged)
    path.parent.chmod(0o700)


def test_a_project_that_cannot_be_written_simply_has_no_handoff(unprivileged: Path) -> None:
    unprivileged.chmod(0o500)
    assert handoff.load_handoff(unprivileged) is None
    with pytest.raises(PermissionError, match="Permission denied"):
        handoff.save_handoff(VALID, unprivileged)
    unprivileged.chmod(0o700)


def test_importing_the_package_does_not_import_yaml() -> None:
    import subprocess

    code = "import sys; import flowd.handoff; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("given", [None, ["goal"], "goal"])
def test_what_is_no_mapping_is_refused_as_a_value_error(project: Path, given: object) -> None:
    for write in (handoff.save_handoff, handoff.update_handoff):
        with pytest.raises(ValueError, match="mapping"):
            write(given, project)  # type: ignore[arg-type]  # that is the point
    assert not (project / ".flow-guardian" / "handoff.yaml").exists()


def test_a_field_added_later_takes_its_place_in_the_schema(project: Path) -> None:
    """Keys that flowd does not know, and an order that a person chose, stay."""
    file = handoff.get_handoff_path(project)
    file.parent.mkdir()
    file.write_text("mood: good\ngoal: g\nstatus: blocked\nnow: n\nbranch: b\n")
    merged = handoff.update_handoff({"outcome": "o", "session_id": "s", "hypothesis": "h"}, project)
    assert list(merged) == [
        *("mood", "goal", "status", "now", "hypothesis", "outcome", "branch", "timestamp", "session_id")
    ]
