"""Read what was appended to a file: complete lines only, each byte once."""

import hashlib
import os
from collections.abc import Iterator
from typing import NamedTuple

from flowd.store.sources import Source

CHUNK_BYTES = 1 << 18
MAX_LINE_BYTES = 64 << 20
HEAD_BYTES = 1024
TAIL_BYTES = 64


class Chunk(NamedTuple):
    """Some complete lines, and the offset after them."""

    data: bytes
    next_offset: int
    tail: bytes
    oversized: bool = False


def fingerprint(head: bytes) -> str:
    """Return a digest of a file's first line; empty while that line is incomplete."""
    end = head.find(b"\n")
    if end < 0 and len(head) < HEAD_BYTES:
        return ""
    return hashlib.blake2b(head[:end] if end >= 0 else head, digest_size=12).hexdigest()


def read_head(descriptor: int) -> bytes:
    """Return the bytes that ``fingerprint`` needs."""
    return os.pread(descriptor, HEAD_BYTES, 0)


def tail_digest(last_bytes: bytes) -> bytes:
    """Return a digest of the bytes before the offset; the bytes themselves may contain secrets."""
    return hashlib.blake2b(last_bytes[-TAIL_BYTES:], digest_size=8).digest() if last_bytes else b""


def tail_before(descriptor: int, offset: int) -> bytes:
    """Return the digest of the bytes that precede *offset* now."""
    window = min(TAIL_BYTES, offset)
    return tail_digest(os.pread(descriptor, window, offset - window))


def line_boundary_before(descriptor: int, size: int) -> int:
    """Return the end of the last complete line within the first *size* bytes."""
    position = size
    while position > 0:
        start = max(0, position - CHUNK_BYTES)
        found = os.pread(descriptor, position - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        position = start
    return 0


class LineReader:
    """Reads chunks of complete lines through one buffer that is reused."""

    def __init__(self, chunk_bytes: int = CHUNK_BYTES, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._buffer = bytearray(chunk_bytes)
        self._max_line_bytes = max_line_bytes

    def chunks(self, descriptor: int, source: Source) -> Iterator[Chunk]:
        """Yield what follows *source*'s offset; the caller advances the offset after each chunk."""
        while (chunk := self._next(descriptor, source.offset)) is not None:
            yield chunk
            if len(chunk.data) < len(self._buffer) // 2 and chunk.next_offset == source.size:
                return  # a small addition, read to its end: later additions come with their own event

    def _next(self, descriptor: int, offset: int) -> Chunk | None:
        filled = os.preadv(descriptor, [self._buffer], offset)
        end = self._buffer.rfind(b"\n", 0, filled) + 1
        if end == 0:
            return self._long_line(descriptor, offset) if filled == len(self._buffer) else None
        return _chunk(bytes(memoryview(self._buffer)[:end]), offset, descriptor)

    def _long_line(self, descriptor: int, offset: int) -> Chunk | None:
        size = len(self._buffer)
        while size < self._max_line_bytes:
            size *= 4
            data = os.pread(descriptor, size, offset)
            end = data.rfind(b"\n") + 1
            if end:
                return _chunk(data[:end], offset, descriptor)
            if len(data) < size:
                return None
        data = os.pread(descriptor, size, offset)
        return Chunk(b"", offset + len(data), tail_digest(data), oversized=True)


def _chunk(data: bytes, offset: int, descriptor: int) -> Chunk:
    next_offset = offset + len(data)
    if len(data) >= TAIL_BYTES or offset == 0:
        return Chunk(data, next_offset, tail_digest(data))
    return Chunk(data, next_offset, tail_before(descriptor, next_offset))
