"""The transcripts flowd knows: who each file is, and how far it has been read."""

import os
import sqlite3
import struct
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

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


_COLUMNS = tuple(field.name for field in msgspec.structs.fields(Source))
_SELECT = f"select {', '.join(_COLUMNS)} from flow_sources"  # noqa: S608 constants
_INSERT = (
    f"insert into flow_sources ({', '.join(_COLUMNS)}) "  # noqa: S608 constants
    f"values ({', '.join('?' * len(_COLUMNS))})"
)
# The path is indexed, and to set it anew would write its index: only a renamed file needs that.
_FOLLOWED = tuple(name for name in _COLUMNS if name not in ("path", "id"))
_UPDATE = f"update flow_sources set {', '.join(f'{name} = ?' for name in _FOLLOWED)} where id = ?"  # noqa: S608 constants
_MOVE = "update flow_sources set path = ? where id = ? and path != ?"

# What a look at the disk is compared with stands first, so that nothing need be unpacked for it.
_LOOK = struct.Struct("<QqQ")
_IDENTITY = struct.Struct("<16xQq")
_PACKED = struct.Struct("<QqQq??")
_SUBAGENT_AT, _LIVE_AT = _IDENTITY.size, _IDENTITY.size + 1
_pack_look = _LOOK.pack
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class PackedSource(msgspec.Struct, gc=False):
    """A known transcript in a third of the memory: packed, unless somebody is at work on it."""

    path: str
    held: bytes | Source

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        if isinstance(self.held, Source):
            return self.held.device, self.held.inode
        inode, device = _IDENTITY.unpack_from(self.held)
        return device, inode

    @property
    def is_subagent(self) -> bool:
        """Whether it is the transcript of a subagent."""
        held = self.held
        return bool(held[_SUBAGENT_AT]) if isinstance(held, bytes) else held.is_subagent

    @property
    def is_live(self) -> bool:
        """Whether its file was there when last looked for."""
        return self.held.state == "live" if isinstance(self.held, Source) else bool(self.held[_LIVE_AT])

    def is_as_read(self, status: os.stat_result) -> bool:
        """Say whether the file looks as it did when it was last read."""
        held = self.held
        if isinstance(held, bytes):
            return held.startswith(_pack_look(status.st_size, status.st_mtime_ns, status.st_ino))
        return (held.size, held.mtime_ns, held.inode) == (status.st_size, status.st_mtime_ns, status.st_ino)

    def mentions(self, session_id: str) -> bool:
        """Say quickly whether it may be a transcript of the session."""
        return isinstance(self.held, Source) or session_id.encode() in self.held

    def unpack(self) -> Source:
        """Return the transcript, to be worked on until ``pack``."""
        if not isinstance(self.held, Source):
            *look, _ = _PACKED.unpack_from(self.held)
            values = (self.path, *look, *_decode(self.held[_PACKED.size :]))
            self.held = Source(**dict(zip(_COLUMNS, values, strict=True)))
        return self.held

    def pack(self) -> None:
        """Take few bytes again."""
        if isinstance(self.held, Source):
            self.held = _packed(msgspec.structs.astuple(self.held))


def load_sources(connection: sqlite3.Connection) -> list[PackedSource]:
    """Return every transcript that was not replaced by a newer one."""
    rows = connection.execute(_SELECT + " where state != 'replaced'")
    return [PackedSource(row[0], _packed(row)) for row in rows]


def store_source(connection: sqlite3.Connection, source: Source) -> None:
    """Write *source*, giving it an id when it is new."""
    path, *followed, number = msgspec.structs.astuple(source)
    if number and connection.execute(_UPDATE, [*followed, number]).rowcount:
        connection.execute(_MOVE, (path, number, path))
        return
    cursor = connection.execute(_INSERT, [path, *followed, number or None])
    source.id = cursor.lastrowid or 0


def _packed(values: Sequence[Any]) -> bytes:
    """Return all but the path of a source's *values*, which are in the order of its fields."""
    return _PACKED.pack(*values[1:6], values[6] == "live") + _encode(values[6:])
