"""The memories of all extractors for one session: feed records, save, restore, derive the state."""

from collections.abc import Callable
from operator import itemgetter, length_hint
from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Describer, Note, Noted, ProjectPlace
from flowd.extractors.transcript.records import NOTHING, Decoded, Message, Record, RecordBlock, decode_lines
from flowd.extractors.transcript.registry import DESCRIBERS, EXTRACTORS
from flowd.model.session import SessionState
from flowd.redaction.data import Redact, redact_data
from flowd.system.errors import FlowdError
from flowd.system.text import storable

# Raised by one whenever an extractor changes what its memory means: older memories are then rebuilt.
MEMORY_FORMAT = 2

Failed = Callable[[int, Exception], None]

_encode = msgspec.msgpack.Encoder().encode
_decoders = {extractor.NAME: msgspec.msgpack.Decoder(extractor.MEMORY) for extractor in EXTRACTORS}
_line = itemgetter(0)
CHUNK_BYTES = 1 << 20


def mask_records(decoded: Decoded, mask: Redact | None) -> None:
    """Apply *mask*, if there is one, to the records of *decoded*."""
    if mask is not None:
        decoded.records = [mask_record(record, mask) for record in decoded.records]


def mask_record(record: Record, mask: Redact) -> Record:
    """Return *record* with *mask* applied to all texts but those that identify it."""
    return msgspec.structs.replace(
        record,
        message=_message(record.message, mask),
        tool_use_result=_raw(record.tool_use_result, mask),
        attachment=_raw(record.attachment, mask),
        content=_text(record.content, mask),
        ai_title=_text(record.ai_title, mask),
        custom_title=_text(record.custom_title, mask),
    )


def _message(message: Message | None, mask: Redact) -> Message | None:
    if message is None:
        return None
    content = message.content
    if isinstance(content, list):
        return msgspec.structs.replace(message, content=[_block(block, mask) for block in content])
    return msgspec.structs.replace(message, content=_text(content, mask))


def _block(block: RecordBlock, mask: Redact) -> RecordBlock:
    return msgspec.structs.replace(
        block,
        text=_text(block.text, mask),
        input=_raw(block.input, mask),
        content=_raw(block.content, mask),
    )


def _text(text: str | None, mask: Redact) -> str | None:
    return mask(text) if text else text


def _raw(raw: msgspec.Raw, mask: Redact) -> msgspec.Raw:
    if not bytes(raw):
        return raw
    try:
        return msgspec.Raw(msgspec.json.encode(redact_data(msgspec.json.decode(raw), mask)))
    except RecursionError:  # nested deeper than anything that a tool returns
        return NOTHING


def _raise_failure(line: int, error: Exception) -> None:
    raise error


class StaleMemoryError(FlowdError):
    """A stored memory has another format; the transcript must be read again from its start."""


class _Saved(msgspec.Struct, array_like=True):
    format: int
    parts: dict[str, msgspec.Raw]


_decode_saved = msgspec.msgpack.Decoder(_Saved).decode


class SessionMemory:
    """The memories of all extractors for one session."""

    def __init__(self) -> None:
        self._remember({extractor.NAME: extractor.MEMORY() for extractor in EXTRACTORS})

    @classmethod
    def restored(cls, saved: bytes) -> "SessionMemory":
        """Return the memory that ``saved()`` encoded; raise StaleMemoryError if it cannot be decoded."""
        memory = cls()
        try:
            stored = _decode_saved(saved)
            if stored.format != MEMORY_FORMAT:
                raise StaleMemoryError(f"memory format {stored.format} is not {MEMORY_FORMAT}")
            memory._remember(
                {name: decoder.decode(stored.parts[name]) for name, decoder in _decoders.items()}
            )
        except (msgspec.DecodeError, KeyError) as error:
            raise StaleMemoryError(f"memory cannot be decoded: {error}") from error
        activity = memory.part("activity")
        # An earlier version kept NULs.
        activity.cwd, activity.first_cwd = storable(activity.cwd), storable(activity.first_cwd)
        return memory

    def saved(self) -> bytes:
        """Return the memory as bytes for the store."""
        self._finalize()
        parts = {name: msgspec.Raw(_encode(part)) for name, part in self._parts.items()}
        return _encode(_Saved(MEMORY_FORMAT, parts))

    def feed(self, record: Record, line: int) -> list[Note]:
        """Feed *record* to every extractor; return their notes."""
        return self.feed_all([record], [line])

    def feed_all(
        self, records: list[Record], lines: list[int], failed: Failed = _raise_failure
    ) -> list[Note]:
        """Feed *records* at *lines* to every extractor; return their notes in line order.

        *failed* is called for each record on which an extractor raised; the next record follows.
        """
        self._is_final = False
        noted: Noted = []
        for feed, part in self._feeds:
            left = iter(lines)
            pairs = zip(records, left, strict=True)
            while length_hint(left):
                try:
                    feed(part, pairs, noted)
                except Exception as error:  # noqa: BLE001 one record must not stop the reading of all others
                    failed(lines[~length_hint(left)], error)
        noted.sort(key=_line)
        return [note for _, note in noted]

    def part(self, name: str) -> Any:
        """Return the memory of the extractor called *name*."""
        return self._parts[name]

    def state(self, session_id: str, place: ProjectPlace, **known: Any) -> SessionState:
        """Return the session's state; *known* overrides the fields of the extractors."""
        self._finalize()
        fields: dict[str, Any] = {}
        for describer in DESCRIBERS:
            fields.update(self._describe(describer, place))
        fields.update(known)
        return SessionState(
            session_id=session_id,
            project=place.root,
            repository=place.repository,
            worktree=place.worktree,
            **fields,
        )

    def _describe(self, describer: Describer, place: ProjectPlace) -> dict[str, Any]:
        """Return the fields of *describer*, cached while the values that it reads stay equal."""
        part = self._parts[describer.extractor]
        if describer.reads is None:
            return describer.describe(part, place)
        read = (place, describer.reads(part))
        before, fields = self._described.get(describer, (None, {}))
        if read != before:
            fields = describer.describe(part, place)
            self._described[describer] = read, fields
        return fields

    def _remember(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._is_final = False
        self._described: dict[Describer, tuple[tuple[ProjectPlace, tuple[object, ...]], dict[str, Any]]] = {}
        self._feeds = [(extractor.feed, parts[extractor.NAME]) for extractor in EXTRACTORS]

    def _finalize(self) -> None:
        if not self._is_final:
            for extractor in EXTRACTORS:
                extractor.finalize(self._parts[extractor.NAME])
            self._is_final = True


class TranscriptReading(msgspec.Struct):
    """The memory of a transcript, its session id, and counts of records and bad lines."""

    memory: SessionMemory
    session_id: str = ""
    records: int = 0
    bad_lines: int = 0


def read_transcript(data: bytes, mask: Redact | None = None) -> TranscriptReading:
    """Return the memory after feeding all lines of *data*; *mask* applies the custom patterns."""
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
