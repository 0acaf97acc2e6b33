"""Record types: those that this version knows, and those that it only counts."""

import json
from pathlib import Path

import pytest

from flowd.extractors.transcript.records import KNOWN_TYPES, decode_lines
from tests.support.repository import DATA, SHARED

# Client 2.1.327 writes each of its requests between the messages.
SAMPLES = [
    DATA / "transcripts" / "headless.jsonl",
    *(SHARED / "corpus" / "agents" / "claude-2.1.327").glob("*.jsonl"),
]


def test_types_that_are_not_known_are_counted_by_name() -> None:
    kinds = ["user", "brain-wave", "brain-wave", "mood", "cost-state"]
    data = b"".join(json.dumps({"type": kind}).encode() + b"\n" for kind in kinds)
    assert decode_lines(data, 1).unknown_types == {"brain-wave": 2, "mood": 1}
    assert decode_lines(data + b"broken\n", 1).unknown_types == {"brain-wave": 2, "mood": 1}
    assert not decode_lines(b'{"type":"user"}\n', 1).unknown_types


@pytest.mark.parametrize("kind", ["api-request", "api-request-shape", "api-request-blob", "cost-state"])
def test_the_types_of_client_2_1_327_are_known(kind: str) -> None:
    assert kind in KNOWN_TYPES


@pytest.mark.parametrize("file", SAMPLES, ids=lambda file: file.stem)
def test_a_real_transcript_of_client_2_1_327_is_known_and_mostly_skipped(file: Path) -> None:
    data = file.read_bytes()
    decoded = decode_lines(data, 1)
    assert not decoded.unknown_types
    assert decoded.lines == data.count(b"\n")
    assert {record.type for record in decoded.records} >= {"user", "assistant", "cost-state"}
    assert not [record for record in decoded.records if record.type.startswith("api-request")]
