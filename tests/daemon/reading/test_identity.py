"""Known files: one transcript is one Source while it is worked on, and is known again afterwards."""

import os
from pathlib import Path

from flowd.daemon.reading.identity import KnownFiles, RecognisedFile
from flowd.extractors.transcript.records import TranscriptName
from flowd.store.sources import Source

LINE = b'{"type":"user"}\n'


def look(known: KnownFiles, file: Path) -> RecognisedFile:
    with file.open("rb") as opened:
        status = os.fstat(opened.fileno())
        recognised = known.recognise(str(file), TranscriptName(file.stem, False), opened.fileno(), status)
    assert recognised is not None
    return recognised


def source_of(known: KnownFiles, file: Path) -> Source:
    source = known.at(str(file))
    assert source is not None
    return source


def test_who_is_worked_on_is_one_and_the_same_until_it_is_settled(tmp_path: Path) -> None:
    """A second look before the commit must not make a second row of the same file."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(LINE)
    known = KnownFiles([])
    first = look(known, file).source
    assert look(known, file).source is first
    assert known.at(str(file)) is first


def test_what_was_done_to_a_source_is_known_after_it_was_settled(tmp_path: Path) -> None:
    """Packing keeps offset and row number."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(LINE)
    known = KnownFiles([])
    source = look(known, file).source
    source.id, source.records = 7, 3
    known.pack()
    again = look(known, file).source
    assert again is not source
    assert again == source


def test_a_settled_file_is_known_under_its_new_name(tmp_path: Path) -> None:
    """A rename is seen by the inode; the old path is forgotten."""
    file, renamed = tmp_path / "s.jsonl", tmp_path / "t.jsonl"
    file.write_bytes(LINE)
    known = KnownFiles([])
    look(known, file)
    known.pack()
    file.rename(renamed)
    assert look(known, renamed).event == "renamed"
    known.pack()
    assert source_of(known, renamed).path == str(renamed)
    assert known.at(str(file)) is None


def test_a_settled_file_that_vanished_is_known_when_it_returns(tmp_path: Path) -> None:
    """Its path is no longer live, its identity stays."""
    file, away = tmp_path / "s.jsonl", tmp_path / "away"
    file.write_bytes(LINE)
    known = KnownFiles([])
    look(known, file)
    known.pack()
    file.rename(away)
    known.vanish(source_of(known, file))
    known.pack()
    assert known.at(str(file)) is None
    away.rename(file)
    assert look(known, file).event == "returned"


def test_a_session_is_asked_for_its_transcripts_and_no_others(tmp_path: Path) -> None:
    """Those of other sessions are left packed."""
    files = [tmp_path / f"{name}.jsonl" for name in ("one", "two")]
    known = KnownFiles([])
    for file in files:
        file.write_bytes(LINE)
        look(known, file)
    known.pack()
    assert [source.path for source in known.of_session("two")] == [str(files[1])]
