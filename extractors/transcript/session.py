"""One session's memory across all extractors: fed record by record, stored, and asked for the state."""

from collections.abc import Callable
from operator import itemgetter, length_hint
from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Describer, Note, Noted, ProjectPlace
from flowd.extractors.transcript.records import Record
from flowd.extractors.transcript.registry import DESCRIBERS, EXTRACTORS
from flowd.model.session import SessionState
from flowd.system.errors import FlowdError

# Raised by one whenever an extractor changes what its memory means: older memories are then rebuilt.
MEMORY_FORMAT = 1

Failed = Callable[[int, Exception], None]

_encode = msgspec.msgpack.Encoder().encode
_decoders = {extractor.NAME: msgspec.msgpack.Decoder(extractor.Memory) for extractor in EXTRACTORS}
_line = itemgetter(0)


def _raise_failure(line: int, error: Exception) -> None:
    raise error


class StaleMemoryError(FlowdError):
    """A stored memory is of another format; the transcript has to be read again from its start."""


class _Saved(msgspec.Struct, array_like=True):
    format: int
    parts: dict[str, msgspec.Raw]


_decode_saved = msgspec.msgpack.Decoder(_Saved).decode


class SessionMemory:
    """What all extractors remember of one session."""

    def __init__(self) -> None:
        self._remember({extractor.NAME: extractor.Memory() for extractor in EXTRACTORS})

    @classmethod
    def restored(cls, saved: bytes) -> "SessionMemory":
        """Return the memory that ``saved()`` gave, or raise StaleMemoryError."""
        memory = cls()
        try:
            stored = _decode_saved(saved)
            if stored.format != MEMORY_FORMAT:
                raise StaleMemoryError(f"memory format {stored.format} is not {MEMORY_FORMAT}")
            memory._remember(
                {name: decoder.decode(stored.parts[name]) for name, decoder in _decoders.items()}
            )
        except (msgspec.DecodeError, KeyError) as error:
            raise StaleMemoryError(f"memory cannot be read: {error}") from error
        return memory

    def saved(self) -> bytes:
        """Return the memory as bytes."""
        self._settle()
        parts = {name: msgspec.Raw(_encode(part)) for name, part in self._parts.items()}
        return _encode(_Saved(MEMORY_FORMAT, parts))

    def feed(self, record: Record, line: int) -> list[Note]:
        """Give *record* to every extractor; return what they noted."""
        return self.feed_all([record], [line])

    def feed_all(
        self, records: list[Record], lines: list[int], failed: Failed = _raise_failure
    ) -> list[Note]:
        """Give *records* of these *lines* to every extractor; return what they noted, in their order.

        *failed* is told of a record that an extractor could not take; it goes on with the next.
        """
        self._is_settled = False
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
        """Return the session's state; *known* are fields that its reader knows better."""
        self._settle()
        fields: dict[str, Any] = {}
        for describer in DESCRIBERS:
            fields.update(self._told_by(describer, place))
        fields.update(known)
        return SessionState(
            session_id=session_id,
            project=place.root,
            repository=place.repository,
            worktree=place.worktree,
            **fields,
        )

    def _told_by(self, describer: Describer, place: ProjectPlace) -> dict[str, Any]:
        """Return what *describer* tells; most records change nothing of what most describers read."""
        part = self._parts[describer.extractor]
        if describer.reads is None:
            return describer.describe(part, place)
        read = (place, describer.reads(part))
        before, fields = self._told.get(describer, (None, {}))
        if read != before:
            fields = describer.describe(part, place)
            self._told[describer] = read, fields
        return fields

    def _remember(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._is_settled = False
        self._told: dict[Describer, tuple[tuple[ProjectPlace, tuple[object, ...]], dict[str, Any]]] = {}
        self._feeds = [(extractor.feed, parts[extractor.NAME]) for extractor in EXTRACTORS]

    def _settle(self) -> None:
        if not self._is_settled:
            for extractor in EXTRACTORS:
                extractor.settle(self._parts[extractor.NAME])
            self._is_settled = True
