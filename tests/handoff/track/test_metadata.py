"""metadata.json: only the handoff section changes, and it is always valid by the shipped schema."""

import json
import os
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowd.handoff.errors import BrokenHandoffError, UnsafeHandoffError
from flowd.handoff.track.metadata import HistoryEntry, add_to_history, read_metadata, set_active

AT = "2026-03-01T10:00:00.123Z"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=10,
)


def schema() -> Any:
    return json.loads(resources.files("flowd.handoff.track").joinpath("metadata.schema.json").read_text())


def write(folder: Path, value: Any) -> Path:
    file = folder / "metadata.json"
    file.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")
    return file


def entry(number: int = 0, trigger: Any = "epic-end") -> HistoryEntry:
    return HistoryEntry(
        section=1, timestamp=f"2026-03-01T10:00:0{number}.123Z", trigger=trigger, bead_id="E1", file="a.md"
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(other=st.dictionaries(st.text().filter(lambda key: key != "handoff"), JSON, max_size=5))
def test_everything_but_the_section_keeps_meaning_and_order(tmp_path: Path, other: dict[str, Any]) -> None:
    """Whatever else the file holds is there afterwards, in the same order."""
    try:
        json.dumps(other, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return  # no UTF-8 file can hold it in these letters
    file = write(tmp_path, other)
    add_to_history(str(tmp_path), str(tmp_path), entry(), 45)
    after = json.loads(file.read_text())
    jsonschema.validate(after, schema())
    del after["handoff"]
    assert list(after.items()) == list(other.items())
    assert json.dumps(after) == json.dumps(other)


def test_each_handoff_is_the_next_section(tmp_path: Path) -> None:
    """section and section_count count together; resuming changes the status only."""
    file = write(tmp_path, {"status": "in_progress", "handoff": {}})
    assert [add_to_history(str(tmp_path), str(tmp_path), entry(n), 10 * n) for n in (1, 2, 3)] == [1, 2, 3]
    section = json.loads(file.read_text())["handoff"]
    jsonschema.validate({"handoff": section}, schema())
    assert (section["status"], section["section_count"], section["progress_percent"]) == ("handed_off", 3, 30)
    assert [item["section"] for item in section["history"]] == [1, 2, 3]
    assert section["last_handoff"] == entry(3).timestamp
    set_active(str(tmp_path), str(tmp_path), 31)
    resumed = json.loads(file.read_text())["handoff"]
    jsonschema.validate({"handoff": resumed}, schema())
    assert resumed == section | {"status": "active", "progress_percent": 31}


def test_the_same_handoff_told_twice_is_recorded_once(tmp_path: Path) -> None:
    """The file is not even written again."""
    file = write(tmp_path, {})
    assert add_to_history(str(tmp_path), str(tmp_path), entry(), 45) == 1
    before = file.stat()
    assert add_to_history(str(tmp_path), str(tmp_path), entry(), 60) == 1
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"handoff": {"mood": "good"}}',
        '{"handoff": {"history": [{"section": 1, "timestamp": "x", "trigger": "precompact"}]}}',
    ],
)
def test_a_file_that_cannot_be_taken_is_left_alone(tmp_path: Path, text: str) -> None:
    """It is somebody's: the error names it, no byte changes."""
    file = tmp_path / "metadata.json"
    file.write_text(text)
    with pytest.raises(BrokenHandoffError, match=r"metadata\.json"):
        add_to_history(str(tmp_path), str(tmp_path), entry(), 45)
    assert file.read_text() == text
    assert os.listdir(tmp_path) == ["metadata.json"]


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    """Neither read nor written."""
    project, outside = tmp_path / "project", tmp_path / "outside.json"
    project.mkdir()
    outside.write_text("{}")
    (project / "metadata.json").symlink_to(outside)
    with pytest.raises(UnsafeHandoffError):
        add_to_history(str(project), str(project), entry(), 45)
    assert outside.read_text() == "{}"


def test_the_epic_is_found_in_both_dialects(tmp_path: Path) -> None:
    """``beads.epicId`` and ``beads_epic``; gates as well."""
    write(
        tmp_path,
        {"beads": {"epicId": "t-1"}, "validation": {"gates_passed": ["spec"], "current_gate": "plan"}},
    )
    metadata = read_metadata(str(tmp_path), str(tmp_path))
    assert (metadata.epic, metadata.gates) == ("t-1", (("spec",), "plan"))
    write(tmp_path, {"beads_epic": "t-2"})
    assert read_metadata(str(tmp_path), str(tmp_path)).epic == "t-2"


def test_the_indentation_and_the_letters_stay(tmp_path: Path) -> None:
    """A diff shows the section and nothing else."""
    file = tmp_path / "metadata.json"
    file.write_text('{\n    "title": "Größe",\n    "n": 12345678901234567890123\n}\n')
    add_to_history(str(tmp_path), str(tmp_path), entry(), 45)
    assert file.read_text().startswith(
        '{\n    "title": "Größe",\n    "n": 12345678901234567890123,\n    "handoff"'
    )


def test_whatever_the_layout_only_the_section_changes(tmp_path: Path) -> None:
    """Short arrays stay on their line, numbers and escapes stay as they were written."""
    file = tmp_path / "metadata.json"
    head = '{"title": "JWT",\n   "tags": ["a","b"],  "n": 1e3, "f": 1.50,\n "u": "\\u00e9",'
    tail = '\n   "last": {"x":1 } }\n\n'
    file.write_text(f'{head} "handoff": {{"status": "active"}} ,{tail}')
    add_to_history(str(tmp_path), str(tmp_path), entry(), 45)
    text = file.read_text()
    assert text.startswith(head)
    assert text.endswith(f",{tail}")
    assert json.loads(text)["handoff"]["section_count"] == 1
    set_active(str(tmp_path), str(tmp_path), 46)
    assert file.read_text().startswith(head)
    assert file.read_text().endswith(f",{tail}")


@pytest.mark.parametrize("text", ["{}", "{ }\n", '{"a": [1, 2]}', '{\n\t"a": 1\n}', '{"a": {"handoff": 1}}'])
def test_a_new_section_is_added_at_the_end(tmp_path: Path, text: str) -> None:
    file = tmp_path / "metadata.json"
    file.write_text(text)
    add_to_history(str(tmp_path), str(tmp_path), entry(), 45)
    after = file.read_text()
    before = json.loads(text)
    assert {key: value for key, value in json.loads(after).items() if key != "handoff"} == before
    assert list(json.loads(after))[-1] == "handoff"
    assert after.startswith(text.rstrip().removesuffix("}").rstrip())


@pytest.mark.parametrize(
    "whole",
    [{"beads": {"epic_id": "t-3"}}, {"beads": {"epic": "t-3"}}, {"beadsEpic": "t-3"}, {"epicId": "t-3"}],
)
def test_the_epic_is_found_by_its_other_names(tmp_path: Path, whole: dict[str, Any]) -> None:
    write(tmp_path, whole)
    assert read_metadata(str(tmp_path), str(tmp_path)).epic == "t-3"
