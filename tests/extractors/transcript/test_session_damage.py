"""Damage of any kind to a transcript is passed over, never raised."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.extractors.transcript.session import read_transcript
from tests.support.transcript import PLACE, eventful

DATA = eventful().data
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def survives(data: bytes) -> None:
    """Read *data*, store what is remembered, and ask for the state."""
    memory = read_transcript(data).memory
    memory.saved()
    memory.state("session-1", PLACE)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.binary(max_size=6)), min_size=1, max_size=12))
def test_changed_bytes_never_raise(changes: list[tuple[int, bytes]]) -> None:
    """Bytes replaced, inserted or dropped anywhere."""
    damaged = bytearray(DATA)
    for place, new in changes:
        damaged[place : place + 3] = new
    survives(bytes(damaged))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(DATA)), st.integers(0, len(DATA)))
def test_cut_and_glued_lines_never_raise(start: int, end: int) -> None:
    """A part torn out leaves two halves of lines glued together."""
    survives(DATA[: min(start, end)] + DATA[max(start, end) :])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_at_all_raise(data: bytes) -> None:
    """Whatever the file is."""
    survives(data)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["user", "assistant", "system", "attachment", "queue-operation", "ai-title"]),
    st.dictionaries(
        st.sampled_from(
            "message content subtype attachment toolUseResult isSidechain isMeta isCompactSummary "
            "timestamp cwd operation aiTitle uuid origin promptSource compactMetadata".split()
        ),
        JSON | st.builds(lambda content: {"role": "user", "content": content}, JSON),
        max_size=6,
    ),
)
def test_records_of_any_shape_never_raise(kind: str, fields: dict[str, object]) -> None:
    """Fields of types that nobody expects."""
    survives(DATA + json.dumps({"type": kind, **fields}).encode() + b"\n" + DATA)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["Bash", "Edit", "TodoWrite", "TaskUpdate", "AskUserQuestion", "ExitPlanMode"]), JSON)
def test_tool_inputs_of_any_shape_never_raise(tool: str, given_: object) -> None:
    """Tools change their inputs between releases."""
    block = {"type": "tool_use", "id": "x", "name": tool, "input": given_}
    back = {"type": "tool_result", "tool_use_id": "x", "content": given_}
    call = {"type": "assistant", "message": {"content": [block]}}
    result = {"type": "user", "message": {"content": [back]}, "toolUseResult": given_}
    survives(b"".join(json.dumps(record).encode() + b"\n" for record in (call, result)))


def test_bytes_that_are_no_text_never_raise() -> None:
    """In parts of a record that are decoded only when they are needed."""
    queued = b'{"type":"attachment","attachment":{"type":"queued_command","prompt":"a\xa2b"}}\n'
    block = b'{"type":"tool_use","id":"x","name":"%s","input":{"a":"\xa2"}}'
    call = b'{"type":"assistant","message":{"content":[' + block + b"]}}\n"
    back = b'{"type":"user","toolUseResult":{"answers":{"\xa2":"b"}},"message":{"content":[%s]}}\n'
    result = b'{"type":"tool_result","tool_use_id":"x","is_error":true,"content":"\xa2"}'
    for tool in (b"Bash", b"AskUserQuestion", b"Write", b"Agent"):
        survives(
            queued + call % tool + back % result + call % tool + back % result.replace(b"true", b"false")
        )
    survives(b'{"type":"user","message":{"content":"\\ud800 lone \\udc00"},"cwd":"\\ud800"} {}\n')
