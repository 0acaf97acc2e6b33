"""One memory for live tailing and for catching up: however a transcript comes in, the state is the same."""

import json
import random
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.cli.flow import main
from flowd.extractors.conversation import conversation
from flowd.extractors.conversation.prompts import human_words
from flowd.extractors.transcript.records import Record, decode_lines
from flowd.extractors.transcript.session import (
    SessionMemory,
    StaleMemoryError,
    first_lines,
    mask_record,
    mask_records,
    read_transcript,
)
from flowd.redaction.redactor import Redactor
from tests.support.transcript import PLACE, Transcript, eventful

SECRET = "ACME-123456"
MASK = Redactor(["ACME-[0-9]{6}"])
MAX_MEMORY_BYTES = 50_000
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


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


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_live_tailing_in_random_pieces_agrees_with_reading_at_once(seed: int) -> None:
    """Also when the memory is stored and restored between the pieces."""
    lines = eventful().lines
    dice = random.Random(seed)
    memory, position = SessionMemory(), 0
    while position < len(lines):
        size = dice.randint(1, 7)
        decoded = decode_lines(b"".join(lines[position : position + size]), position + 1)
        for record, line in zip(decoded.records, decoded.line_numbers, strict=True):
            memory.feed(record, line)
        position += size
        if dice.random() < 0.5:
            memory = SessionMemory.restored(memory.saved())
    assert memory.state("session-1", PLACE) == eventful().state


def test_asking_for_the_state_changes_nothing() -> None:
    """At every line, the state asked for before does not show in the state asked for after."""
    memory, lines = SessionMemory(), eventful().lines
    for number, line in enumerate(lines, 1):
        memory.feed(decode_lines(line, number).records[0], number)
        memory.state("session-1", PLACE)
        memory.saved()
    assert memory.state("session-1", PLACE) == eventful().state


def test_what_was_told_before_stands_only_while_it_is_true() -> None:
    """At every line, a memory that was asked all along tells what one that was never asked tells."""
    memory, lines = SessionMemory(), eventful().lines
    for number, line in enumerate(lines, 1):
        memory.feed(decode_lines(line, number).records[0], number)
        told = memory.state("session-1", PLACE)
        assert told == SessionMemory.restored(memory.saved()).state("session-1", PLACE), number


def test_the_first_lines_are_read_as_if_there_were_no_others() -> None:
    """``--until-line`` shows the state as it was."""
    session = eventful()
    whole, half = session.data, first_lines(session.data, 9)
    assert half == b"".join(session.lines[:9])
    assert first_lines(whole, 10_000) == whole
    assert read_transcript(half).memory.state("session-1", PLACE).status == "in_progress"


def test_a_last_line_without_its_end_is_read() -> None:
    """A file at rest has nothing to wait for."""
    data = Transcript().person("Add a total to the cart page").data
    assert read_transcript(data.rstrip(b"\n")).records == 1


def test_a_memory_stays_small_however_long_the_session() -> None:
    """Ten thousand eventful records leave no more than some kilobytes."""
    session = Transcript()
    for number in range(1200):
        session.person(f"Change number {number}: " + "really make it so, never mind the cost. " * 20)
        session.edit(f"src/file{number}.py").call(
            "TaskCreate", subject=f"Task {number} " + "x" * 500
        ).result()
        session.call("Bash", command="make test", description="y" * 900)
        session.assistant(f"The issue {number} is silently caused by a wrong default. " * 60)
    assert len(read_transcript(session.data).memory.saved()) < MAX_MEMORY_BYTES


def test_no_secret_is_stored_or_told() -> None:
    """Wherever it was said: prompts, replies, labels, tasks, answers, commits, titles, files."""
    session = Transcript().person(f"Use the token {TOKEN} for the shop, it must never expire")
    session.assistant(f"The issue is that {TOKEN} is silently ignored because it is wrong.", "tool_use")
    session.call("TaskCreate", subject=f"Try {TOKEN}").result()
    session.call("TodoWrite", todos=[{"content": f"Revoke {TOKEN}", "status": "pending"}]).result()
    session.call("AskUserQuestion", questions=[{"question": f"Keep {TOKEN}?"}])
    session.result("answered", answers={f"Keep {TOKEN}?": f"No, not {TOKEN}"}).commit(f"Use {TOKEN}")
    session.edit(f"src/{TOKEN}.py").add("ai-title", aiTitle=f"Use {TOKEN}")
    session.add("system", subtype="away_summary", content=f"Using {TOKEN}. Next: revoke {TOKEN}.")
    session.add("queue-operation", operation="enqueue", content=f"Then revoke {TOKEN} everywhere")
    session.call("Bash", command=f"curl -H 'Authorization: Bearer {TOKEN}' https://shop.example")
    memory = session.memory
    assert TOKEN.encode() not in memory.saved()
    assert TOKEN not in repr(memory.state("session-1", PLACE))


def test_no_secret_of_a_call_that_outlives_its_turn_is_stored() -> None:
    """A person may speak while it runs, before anything was stored."""
    session = Transcript().call("Bash", command=f"git commit -m 'Use {TOKEN}'", description=f"Use {TOKEN}")
    session.person("And please round the total of the cart down")
    assert TOKEN.encode() not in session.memory.saved()


def test_no_secret_of_a_check_is_stored() -> None:
    """Neither while it runs nor once it is back."""
    session = Transcript().call("Bash", command=f"\nnpm run test:{TOKEN}")
    assert TOKEN.encode() not in session.memory.saved()
    session.result("1 failed")
    assert TOKEN.encode() not in session.memory.saved()
    assert TOKEN not in repr(session.state)


def test_a_record_that_cannot_be_taken_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first nor the last; whoever asks is told which, and without asking it is raised."""
    session = Transcript().person("fail").add("ai-title", aiTitle="Cart").person("Round it down please")
    session.add("ai-title", aiTitle="Cart total").person("fail")
    decoded, failed = decode_lines(session.data, 11), []

    def failing(record: Record) -> str:
        if human_words(record) == "fail":
            raise ValueError("fail")
        return human_words(record)

    monkeypatch.setattr(conversation, "human_words", failing)
    memory = SessionMemory()
    notes = memory.feed_all(
        decoded.records, decoded.line_numbers, lambda line, error: failed.append((line, str(error)))
    )
    assert failed == [(11, "fail"), (15, "fail")]
    assert [note.key for note in notes] == ["titled:Cart", "titled:Cart total"]
    assert memory.state("session-1", PLACE).records == 5
    assert memory.state("session-1", PLACE).goal == "Cart total — now: Round it down please"
    with pytest.raises(ValueError, match="fail"):
        SessionMemory().feed(decoded.records[0], 11)


def test_notes_of_all_extractors_come_in_the_order_of_their_records() -> None:
    """A block is noted by another extractor than a title is."""
    block = "## Handoff\n\n```yaml\noutcome: completed\n```\n"
    session = Transcript().assistant(block).add("ai-title", aiTitle="One").assistant(block)
    session.add("ai-title", aiTitle="Two")
    decoded = decode_lines(session.data, 1)
    notes = SessionMemory().feed_all(decoded.records, decoded.line_numbers)
    assert [note.key.partition(":")[0] for note in notes] == ["block", "titled", "block", "titled"]


def test_a_memory_of_another_format_is_refused() -> None:
    """The transcript is then read again."""
    with pytest.raises(StaleMemoryError):
        SessionMemory.restored(b"\x92\xcd\x03\xe7\x80")
    with pytest.raises(StaleMemoryError):
        SessionMemory.restored(b"not a memory")
