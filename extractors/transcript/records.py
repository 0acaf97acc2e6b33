"""Claude Code's transcript records as typed values, and how lines become records.

The format is internal to the client and changes between releases: every field is optional, unknown
types and fields are passed over, and a line that does not fit is counted, never fatal.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from flowd.extractors.transcript.lines import SelectedLines, select_lines

NOTHING = msgspec.Raw(b"")


class RecordBlock(msgspec.Struct, omit_defaults=True, gc=False):
    """One content block of a message; which fields are set depends on ``type``."""

    type: str = ""
    text: str | None = None
    name: str | None = None
    id: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, omit_defaults=True, gc=False):
    """The API message inside a user or assistant record."""

    model: str | None = None
    content: str | list[RecordBlock] | None = None
    stop_reason: str | None = None


class CompactMetadata(msgspec.Struct, rename="camel", gc=False):
    """The metadata of a compaction."""

    trigger: str | None = None
    pre_tokens: int | None = None


class Origin(msgspec.Struct, gc=False):
    """Who caused a user record."""

    kind: str | None = None


class Record(msgspec.Struct, rename="camel", gc=False):
    """One transcript record: the fields that somebody reads, as the client names them, in snake case."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    tool_use_result: msgspec.Raw = NOTHING
    attachment: msgspec.Raw = NOTHING
    content: str | None = None
    operation: str | None = None
    prompt_source: str | None = None
    origin: Origin | None = None
    compact_metadata: CompactMetadata | None = None
    ai_title: str | None = None
    custom_title: str | None = None
    pr_number: int | None = None
    pr_url: str | None = None
    pr_repository: str | None = None
    entrypoint: str | None = None
    total_cost_usd: float | None = msgspec.field(default=None, name="totalCostUSD")
    model_usage: msgspec.Raw = NOTHING


KNOWN_TYPES = frozenset(
    "user assistant system attachment progress summary ai-title custom-title agent-name last-prompt mode "
    "permission-mode pr-link queue-operation file-history-snapshot file-history-delta bridge-session "
    "atis-latch api-request api-request-shape api-request-blob tools-used cost-state prompt_snapshot "
    "content-replacement worktree-state tag task-summary".split()
)

_records = msgspec.json.Decoder(Record)
# A line that is nested too deep for the decoder is a line that cannot be decoded.
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NULL = re.compile(rb"((?<!\\)(?:\\\\)*+)\\u0000")


class Decoded(msgspec.Struct):
    """The records of some complete lines, and what was wrong with the others."""

    records: list[Record]
    line_numbers: list[int]
    lines: int
    bad_lines: int = 0
    glued_lines: int = 0
    misfit_records: int = 0
    unknown_types: Counter[str] = msgspec.field(default_factory=Counter)


def _without_nulls(data: bytes) -> bytes:
    """Return *data* with a replacement character for each NUL, which no path may have."""
    return _NULL.sub(rb"\1\\ufffd", data) if b"\\u0000" in data else data


def decode_lines(data: bytes, first_line: int) -> Decoded:
    """Decode complete lines but those that carry nothing; *first_line* is the number of the first."""
    selected = select_lines(_without_nulls(data), first_line)
    try:
        records = _records.decode_lines(selected.data)
    except _UNDECODABLE:
        return _decode_carefully(selected)
    if len(records) != len(selected.numbers):  # blank lines: only the careful way knows which is where
        return _decode_carefully(selected)
    return Decoded(
        records=records,
        line_numbers=selected.numbers,
        lines=selected.lines,
        unknown_types=_count_unknown_types(records),
    )


def _count_unknown_types(records: list[Record]) -> Counter[str]:
    if {record.type for record in records} <= KNOWN_TYPES:
        return Counter()
    return Counter(record.type for record in records if record.type not in KNOWN_TYPES)


def _decode_carefully(selected: SelectedLines) -> Decoded:
    decoded = Decoded(records=[], line_numbers=[], lines=selected.lines)
    for number, line in zip(selected.numbers, selected.data.split(b"\n"), strict=False):
        if line.strip():
            _decode_line(line, number, decoded)
    decoded.unknown_types = _count_unknown_types(decoded.records)
    return decoded


def _decode_line(line: bytes, number: int, decoded: Decoded) -> None:
    try:
        found = [_records.decode(line)]
    except _UNDECODABLE:
        found = [_lenient_record(value, decoded) for value in _objects(line)]
        decoded.bad_lines += not found
        decoded.glued_lines += len(found) > 1
    for record in found:
        decoded.records.append(record)
        decoded.line_numbers.append(number)


def _objects(line: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a damaged line: glued ones each, a broken one not at all."""
    import json

    text = line.decode("utf-8", "replace")
    decoder = json.JSONDecoder()
    position = 0
    while (start := text.find("{", position)) >= 0 and not text[position:start].strip():
        try:
            value, position = decoder.raw_decode(text, start)
            # JavaScript cuts strings between the halves of an emoji; half a pair has no UTF-8.
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return
        yield value


def _lenient_record(value: dict[str, Any], decoded: Decoded) -> Record:
    """Return the record of *value* without the fields whose types do not fit."""
    try:
        return _records.decode(msgspec.json.encode(value))
    except (msgspec.ValidationError, RecursionError, OverflowError):
        decoded.misfit_records += 1
        return _field_by_field(value)


def _field_by_field(value: dict[str, Any]) -> Record:
    fitting: dict[str, Any] = {}
    for field in msgspec.structs.fields(Record):
        if field.encode_name in value:
            try:
                one = msgspec.json.encode({field.encode_name: value[field.encode_name]})
                fitting[field.name] = getattr(_records.decode(one), field.name)
            except (msgspec.ValidationError, RecursionError, OverflowError):
                continue
    return Record(**fitting)


class TranscriptName(NamedTuple):
    """The session that a transcript belongs to, derived from its path; directory names are never decoded."""

    session_id: str
    is_subagent: bool


def transcript_name(relative_path: str) -> TranscriptName | None:
    """Return the session of the transcript at *relative_path* (below ``projects/``), None for other files."""
    parts = relative_path.split("/")
    if len(parts) < 2 or not parts[-1].endswith(".jsonl"):
        return None
    stem = parts[-1].removesuffix(".jsonl")
    if len(parts) == 2:
        # Clients 2.0 put subagents beside the sessions; their records name the parent.
        return TranscriptName("" if stem.startswith("agent-") else stem, stem.startswith("agent-"))
    if parts[2] == "subagents" and stem.startswith("agent-"):
        return TranscriptName(parts[1], True)
    return None
