"""Known transcripts packed into bytes, except while one is in use.

A trick for memory: the daemon keeps one record per known transcript, 10,000 and more.
`python -m bench --only resting` with 10,000 transcripts, medians of five interleaved runs: "USS at rest"
28.7 MB packed, 33.0 MB as Source structs with gc=False; "USS at rest, after reading them" 35.4 and
38.8 MB, where the limit is 40 MB.
"""

import os
import sqlite3
import struct
from collections.abc import Sequence
from typing import Any

import msgspec

from flowd.store.sources import COLUMNS, SELECT, Source, as_int64

# The fields compared with a stat result come first, so that a comparison needs no unpacking.
_STAT = struct.Struct("<qqq")
_IDENTITY = struct.Struct("<16xqq")
_HEAD = struct.Struct("<qqqq??")
_SUBAGENT_AT, _LIVE_AT = _IDENTITY.size, _IDENTITY.size + 1
_pack_stat = _STAT.pack
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder().decode


class PackedSource(msgspec.Struct, gc=False):
    """A known transcript: ``data`` is its packed fields, or the Source while it is unpacked."""

    path: str
    data: bytes | Source

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode."""
        if isinstance(self.data, Source):
            return self.data.device, self.data.inode
        inode, device = _IDENTITY.unpack_from(self.data)
        return device, inode

    @property
    def is_subagent(self) -> bool:
        """Whether it is the transcript of a subagent."""
        data = self.data
        return bool(data[_SUBAGENT_AT]) if isinstance(data, bytes) else data.is_subagent

    @property
    def is_live(self) -> bool:
        """Whether its file existed at the last check."""
        return self.data.state == "live" if isinstance(self.data, Source) else bool(self.data[_LIVE_AT])

    def is_as_read(self, status: os.stat_result) -> bool:
        """Return True if size, modification time and inode are those of the last read."""
        data = self.data
        found = status.st_size, as_int64(status.st_mtime_ns), as_int64(status.st_ino)
        if isinstance(data, bytes):
            return data.startswith(_pack_stat(*found))
        return (data.size, data.mtime_ns, data.inode) == found

    def mentions(self, session_id: str) -> bool:
        """Return False if it is certainly not a transcript of the session; cheap."""
        return isinstance(self.data, Source) or session_id.encode() in self.data

    def unpack(self) -> Source:
        """Return the Source; it stays the same object until ``pack``."""
        if not isinstance(self.data, Source):
            *head, _ = _HEAD.unpack_from(self.data)
            values = (self.path, *head, *_decode(self.data[_HEAD.size :]))
            self.data = Source(**dict(zip(COLUMNS, values, strict=True)))
        return self.data

    def pack(self) -> None:
        """Replace the Source by its packed fields."""
        if isinstance(self.data, Source):
            self.data = _packed(msgspec.structs.astuple(self.data))


def load_sources(connection: sqlite3.Connection) -> list[PackedSource]:
    """Return every transcript that was not replaced by a newer one."""
    rows = connection.execute(SELECT + " where state != 'replaced'")
    return [PackedSource(row[0], _packed(row)) for row in rows]


def _packed(values: Sequence[Any]) -> bytes:
    """Pack the *values* of a source, in the order of its fields, without the path."""
    return _HEAD.pack(*values[1:6], values[6] == "live") + _encode(values[6:])
