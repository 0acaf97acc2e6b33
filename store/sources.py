"""The transcripts flowd knows: the identity of each file, and the offset up to which it was read."""

import sqlite3
from typing import Literal

import msgspec

from flowd.store.database import Database

_INT64 = 1 << 63


def as_int64(number: int) -> int:
    """Return *number* as SQLite stores it: what is out of range wraps around, and stays what it was equal to.

    Inodes of some file systems have 64 bits, and a file may be dated after 2262.
    """
    return number if -_INT64 <= number < _INT64 else (number + _INT64) % (2 * _INT64) - _INT64


SourceState = Literal["live", "vanished", "replaced"]


class Source(msgspec.Struct, kw_only=True):
    """One transcript. Its identity is device, inode and fingerprint; its path may change."""

    path: str
    size: int = 0
    mtime_ns: int = 0
    inode: int
    device: int
    is_subagent: bool = False
    state: SourceState = "live"
    fingerprint: str
    generation: int = 0
    session_id: str = ""
    offset: int = 0
    lines: int = 0
    records: int = 0
    tail: bytes = b""
    first_seen_at: float = 0.0
    last_read_at: float = 0.0
    id: int = 0


COLUMNS = tuple(field.name for field in msgspec.structs.fields(Source))
SELECT = f"select {', '.join(COLUMNS)} from flow_sources"  # noqa: S608 constants
_INSERT = (
    f"insert into flow_sources ({', '.join(COLUMNS)}) "  # noqa: S608 constants
    f"values ({', '.join('?' * len(COLUMNS))})"
)
# The path is indexed, and setting it would write the index: only a renamed file needs that.
_UPDATED = tuple(name for name in COLUMNS if name not in ("path", "id"))
_UPDATE = f"update flow_sources set {', '.join(f'{name} = ?' for name in _UPDATED)} where id = ?"  # noqa: S608 constants
_RENAME = "update flow_sources set path = ? where id = ? and path != ?"


def store_source(connection: sqlite3.Connection, source: Source) -> None:
    """Write *source*; a new one gets an id."""
    path, *values, number = msgspec.structs.astuple(source)
    if number and connection.execute(_UPDATE, [*values, number]).rowcount:
        connection.execute(_RENAME, (path, number, path))
        return
    cursor = connection.execute(_INSERT, [path, *values, number or None])
    source.id = cursor.lastrowid or 0


def last_read_at(database: Database) -> float:
    """Return when any transcript was read last, 0.0 before the first."""
    with database.reading() as connection:
        (at,) = connection.execute("select max(last_read_at) from flow_sources").fetchone()
    return float(at or 0.0)
