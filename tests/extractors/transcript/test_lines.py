"""Lines that carry nothing are not decoded; every other line is, with its own number."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.extractors.transcript.lines import select_lines
from flowd.extractors.transcript.records import decode_lines

ENVELOPE = {"uuid": "u-1", "timestamp": "2026-11-18T13:12:52.923Z", "sessionId": "s", "gitBranch": "main"}
MESSAGE = {"role": "user", "content": "Fix the cart"}
SKIPPED: list[dict[str, Any]] = [
    {"type": "api-request", "sessionId": "s", "params": {"model": "m"}, "requestDigest": "d"},
    {"type": "api-request-shape", "sessionId": "s", "shape": {"tools": ["x" * 900]}},
    {"type": "api-request-blob", "sessionId": "s", "hash": "h", "message": MESSAGE},
    {
        "parentUuid": "p" * 36,
        "isSidechain": False,
        "attachment": {"type": "prompt_snapshot", "systemPrompt": ["x" * 900]},
        "type": "attachment",
        **ENVELOPE,
    },
]
READ: list[dict[str, Any]] = [
    {"parentUuid": None, "isSidechain": False, "type": "user", "message": MESSAGE, **ENVELOPE},
    {"type": "user", "message": {"role": "user", "content": '{"type":"api-request"'}, **ENVELOPE},
    {"type": "user", "message": {"content": 'an "attachment":{"type":"prompt_snapshot"'}, **ENVELOPE},
    {
        "parentUuid": "p" * 36,
        "attachment": {"type": "queued_command", "prompt": "Hurry"},
        "type": "attachment",
        **ENVELOPE,
    },
    {"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.5},
]


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


@given(st.lists(st.sampled_from(range(len(SKIPPED) + len(READ)))), st.integers(1, 10**6))
def test_exactly_the_lines_that_carry_nothing_are_skipped(kinds: list[int], first: int) -> None:
    records = [(SKIPPED + READ)[kind] for kind in kinds]
    selected = select_lines(b"".join(map(line, records)), first)
    wanted = [(number, record) for number, record in enumerate(records, first) if record in READ]
    assert selected.lines == len(records)
    assert selected.numbers == [number for number, _ in wanted]
    assert selected.data == b"".join(line(record) for _, record in wanted)


@pytest.mark.parametrize("skipped", SKIPPED, ids=lambda record: str(record["type"]))
@pytest.mark.parametrize("content", ["Fix the cart", "long " * 1000])
def test_a_record_behind_one_that_is_skipped_is_read_where_the_newline_is_lost(
    skipped: dict[str, Any], content: str
) -> None:
    second = READ[0] | {"message": {"role": "user", "content": content}}
    decoded = decode_lines(line(skipped).strip() + line(second), 7)
    assert [record.type for record in decoded.records] == [skipped["type"], "user"]
    assert decoded.line_numbers == [7, 7]
    assert decoded.glued_lines == 1


def test_numbers_stay_right_among_blank_and_broken_lines() -> None:
    data = line(SKIPPED[0]) + b"\n" + line(READ[0]) + b"{broken\n" + line(SKIPPED[3]) + line(READ[4])
    decoded = decode_lines(data, 10)
    assert decoded.line_numbers == [12, 15]
    assert (decoded.lines, decoded.bad_lines) == (6, 1)


@pytest.mark.parametrize("data", [b"", b"\n", b"\n\n", b'{"type":"api-request', b"{"])
def test_too_little_is_never_too_much(data: bytes) -> None:
    assert decode_lines(data, 1).records == []
