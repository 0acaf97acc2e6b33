"""Whole sessions: the state read from them against a careful reader's."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flowd.cli.flow import main
from flowd.extractors.transcript.records import decode_lines
from flowd.extractors.transcript.session import SessionMemory, read_transcript
from tests.support.repository import SHARED, TRANSCRIPTS
from tests.support.transcript import PLACE

CORPUS = SHARED / "corpus"
FLOORS = {
    "goal": 0.72,
    "now": 0.80,
    "status": 0.85,
    "files": 0.85,
    "insights": 0.78,
    "next": 0.60,
    "total": 0.80,
}
ROW = re.compile(r"^\| (dev-\d+) \|(?:[^|]*\|){4} (\d+) \|", re.MULTILINE)


def extracted(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["extract", *words, "--json"]) == 0
    return capsys.readouterr().out


def holds(text: str, words: list[str]) -> bool:
    """Return True if *text* has all of *words*, whatever their case."""
    return all(word.lower() in text.lower() for word in words)


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_a_whole_session_is_read_as_a_careful_reader_would(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = json.loads(file.with_suffix(".expected.json").read_text(encoding="utf-8"))
    state: dict[str, Any] = json.loads(extracted(capsys, str(file)))
    assert (state["status"], state["branch"]) == (expected["status"], expected["branch"])
    assert holds(state["goal"], expected["goal"])
    assert set(expected["files"]) <= set(state["files"])
    for words in expected["next"]:
        assert any(holds(step, words) for step in state["next"])
    insights = [(each["category"], each["insight"]) for each in state["insights"]]
    for category in ("learning", "decision"):
        for words in expected[f"{category}s"]:
            assert any(kind == category and holds(text, words) for kind, text in insights)


@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.stem)
def test_a_whole_session_read_in_pieces_gives_the_same_state(file: Path) -> None:
    lines = [line + b"\n" for line in file.read_bytes().removesuffix(b"\n").split(b"\n")]
    dice, memory, position = random.Random(file.stem), SessionMemory(), 0
    while position < len(lines):
        size = dice.randint(1, 5)
        decoded = decode_lines(b"".join(lines[position : position + size]), position + 1)
        for record, line in zip(decoded.records, decoded.line_numbers, strict=True):
            memory.feed(record, line)
        position += size
        memory = SessionMemory.restored(memory.saved())
    assert memory.state("s", PLACE) == read_transcript(file.read_bytes()).memory.state("s", PLACE)


@pytest.mark.shared
def test_the_score_stays_above_its_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each field by itself, and all together."""
    for name, cut in ROW.findall((CORPUS / "SOURCES.md").read_text()):
        transcript = CORPUS / "transcripts" / f"{name}.jsonl"
        (tmp_path / f"{name}.json").write_text(extracted(capsys, str(transcript), "--until-line", cut))
    scored = subprocess.run(
        [sys.executable, CORPUS / "score.py", tmp_path, "--json"], capture_output=True, check=True, timeout=60
    )
    mean = json.loads(scored.stdout)["mean"]
    assert {field: mean[field] for field, floor in FLOORS.items() if mean[field] < floor} == {}
