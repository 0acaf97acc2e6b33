"""Spooled hooks are processed oldest first, and removed when they are stored."""

import json
from pathlib import Path

import pytest

from flowd.daemon.hooks.spool import MAX_BYTES, Spool


def put(directory: Path, name: str, **fields: object) -> Path:
    file = directory / name
    file.write_text(json.dumps(fields))
    return file


def test_events_come_oldest_first_with_the_time_of_their_hook(tmp_path: Path) -> None:
    put(tmp_path, "2000000000-7.json", session_id="later")
    put(tmp_path, "1000000000-9.json", session_id="first")
    events = list(Spool(tmp_path).events())
    assert [(event.input.session_id, event.input.at) for event in events] == [("first", 1.0), ("later", 2.0)]


def test_a_file_stays_until_its_event_is_stored(tmp_path: Path) -> None:
    file = put(tmp_path, "1000000000-1.json", session_id="s1")
    (event,) = Spool(tmp_path).events()
    event.on_done(False)
    assert file.exists()
    event.on_done(True)
    event.on_done(True)  # two drains may have found it
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["not json", "[]", "", " " * (MAX_BYTES + 1)], ids=["text", "list", "empty", "large"]
)
def test_what_is_no_hook_input_is_removed(tmp_path: Path, text: str) -> None:
    (tmp_path / "1-1.json").write_text(text)
    good = put(tmp_path, "2-1.json", session_id="s1")
    assert [event.input.session_id for event in Spool(tmp_path).events()] == ["s1"]
    assert list(tmp_path.iterdir()) == [good]


def test_without_a_spool_directory_there_are_no_events(tmp_path: Path) -> None:
    assert list(Spool(tmp_path / "missing").events()) == []
