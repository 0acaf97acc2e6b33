"""The transcripts flowd knows: who each file is, and how far it has been read."""

import sqlite3
from typing import Literal

import msgspec

SourceState = Literal["live", "vanished", "replaced"]


class Source(msgspec.Struct, kw_only=True):
    """One transcript. Its identity is device, inode and fingerprint; its path may change."""

    id: int = 0
    device: int
    inode: int
    fingerprint: str
    generation: int = 0
    path: str
    session_id: str = ""
    is_subagent: bool = False
    offset: int = 0
    lines: int = 0
    records: int = 0
    tail: bytes = b""
    size: int = 0
    mtime_ns: int = 0
    state: SourceState = "live"
    first_seen_at: float = 0.0
    last_read_at: float = 0.0


_COLUMNS = tuple(field.name for field in msgspec.structs.fields(Source))
_SELECT = f"select {', '.join(_COLUMNS)} from flow_sources"  # noqa: S608 constants
_INSERT = (
    f"insert or replace into flow_sources ({', '.join(_COLUMNS)}) "  # noqa: S608 constants
    f"values ({', '.join('?' * len(_COLUMNS))})"
)


def load_sources(connection: sqlite3.Connection) -> list[Source]:
    """Return every transcript that was not replaced by a newer one."""
    rows = connection.execute(_SELECT + " where state != 'replaced'")
    return [_from_row(row) for row in rows]


def store_source(connection: sqlite3.Connection, source: Source) -> None:
    """Write *source*, giving it an id when it is new."""
    values = [source.id or None, *msgspec.structs.astuple(source)[1:]]
    cursor = connection.execute(_INSERT, values)
    if not source.id:
        source.id = cursor.lastrowid or 0


def _from_row(row: tuple[object, ...]) -> Source:
    fields = dict(zip(_COLUMNS, row, strict=True))
    fields["is_subagent"] = bool(fields["is_subagent"])
    return Source(**fields)  # type: ignore[arg-type]  # the columns are the fields, by construction
