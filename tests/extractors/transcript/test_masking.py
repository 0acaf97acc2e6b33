"""A person's own secret patterns are masked in every text of a record, before extractors see it."""

import json
from pathlib import Path

import msgspec
import pytest

from flowd.cli.flow import main
from flowd.extractors.transcript.masking import mask_record, mask_records
from flowd.extractors.transcript.records import Record, decode_lines
from flowd.redaction.redactor import Redactor

SECRET = "ACME-123456"
MASK = Redactor(["ACME-[0-9]{6}"])


def record(**fields: object) -> Record:
    return decode_lines(json.dumps({"sessionId": "s", "uuid": "u", **fields}).encode() + b"\n", 1).records[0]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "user", "message": {"content": f"use {SECRET}"}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": f"used {SECRET}"}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": {"a": [SECRET]}}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": SECRET}]}},
        {"type": "user", "toolUseResult": {"stdout": f"é {SECRET}"}},
        {"type": "attachment", "attachment": {"prompt": SECRET}},
        {"type": "system", "content": SECRET},
        {"type": "ai-title", "aiTitle": SECRET},
        {"type": "custom-title", "customTitle": SECRET},
    ],
)
def test_no_text_of_a_record_keeps_the_secret(fields: dict[str, object]) -> None:
    masked = mask_record(record(**fields), MASK)
    written = msgspec.json.encode(masked).decode()
    assert "ACME" not in written
    assert "[redacted:custom]" in written
    assert (masked.type, masked.session_id, masked.uuid) == (fields["type"], "s", "u")


def test_without_patterns_the_records_are_the_same_objects() -> None:
    decoded = decode_lines(b'{"type":"system","content":"ACME-123456"}\n', 1)
    before = decoded.records[0]
    mask_records(decoded, None)
    assert decoded.records[0] is before


def test_flow_extract_masks_the_patterns_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))
    file = tmp_path / "s.jsonl"
    message = {"role": "user", "content": f"Rotate the key {SECRET} of the shop"}
    file.write_text(json.dumps({"type": "user", "sessionId": "s", "cwd": "/x", "message": message}) + "\n")
    assert main(["extract", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "ACME" not in printed
    assert "Rotate the key [redacted:custom]" in printed
