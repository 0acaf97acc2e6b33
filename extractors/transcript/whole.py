"""Read a whole transcript at once, through the same memory that the daemon feeds live."""

import msgspec

from flowd.extractors.transcript.masking import mask_records
from flowd.extractors.transcript.records import decode_lines
from flowd.extractors.transcript.session import SessionMemory
from flowd.redaction.data import Redact

CHUNK_BYTES = 1 << 20


class TranscriptReading(msgspec.Struct):
    """The memory of a transcript, its session id, and counts of records and bad lines."""

    memory: SessionMemory
    session_id: str = ""
    records: int = 0
    bad_lines: int = 0


def read(data: bytes, mask: Redact | None = None) -> TranscriptReading:
    """Return the memory after feeding all lines of *data*; *mask* hides a person's own secret patterns."""
    reading = TranscriptReading(SessionMemory())
    first_line, start = 1, 0
    while start < len(data):
        chunk = _chunk(data, start)
        start += len(chunk)
        first_line += _feed(reading, chunk if chunk.endswith(b"\n") else chunk + b"\n", first_line, mask)
    return reading


def first_lines(data: bytes, count: int) -> bytes:
    """Return the first *count* lines of *data*."""
    end = -1
    for _ in range(count):
        end = data.find(b"\n", end + 1)
        if end < 0:
            return data
    return data[: end + 1]


def _chunk(data: bytes, start: int) -> bytes:
    """Return whole lines from *start*: about a chunk, at least one line."""
    end = data.find(b"\n", start + CHUNK_BYTES)
    return data[start:] if end < 0 else data[start : end + 1]


def _feed(reading: TranscriptReading, lines: bytes, first_line: int, mask: Redact | None) -> int:
    decoded = decode_lines(lines, first_line)
    mask_records(decoded, mask)
    for record in decoded.records:
        reading.session_id = reading.session_id or record.session_id or ""
    reading.memory.feed_all(decoded.records, decoded.line_numbers)
    reading.records += len(decoded.records)
    reading.bad_lines += decoded.bad_lines
    return decoded.lines
