"""Reading what was added: complete lines only, each byte once, however the bytes arrive."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.daemon.reading.tailer import Chunk, LineReader, fingerprint, line_boundary_before
from flowd.extractors.transcript.records import decode_lines
from flowd.store.sources import Source
from tests.support.transcript_lines import line

SMALL_CHUNK, SHORT_LIMIT = 32, 512

broken_lines = st.sampled_from(
    [
        b"\n",
        b"not json\n",
        b"\xff\xfe\n",
        b'{"type":"new-kind"}\n',
        b'{"type":"user"}{"type":"mode"}\n',
        b"[]\n",
    ]
)
good_lines = st.builds(line, st.integers(0, 3000), session=st.sampled_from(["a", "é", "🙂🙂"]))
oversized_lines = st.integers(SHORT_LIMIT, 3 * SHORT_LIMIT).map(lambda size: b"x" * size + b"\n")
transcripts = st.lists(st.one_of(good_lines, broken_lines, oversized_lines), max_size=8).map(b"".join)


class Tail:
    """A file that grows, and what reading it has given so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._reader = LineReader(SMALL_CHUNK, SHORT_LIMIT)
        self._source = Source(device=0, inode=0, fingerprint="", path=str(path))
        self.data = b""
        self.oversized = 0
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def append(self, data: bytes) -> None:
        os.write(self._descriptor, data)

    def read(self) -> None:
        for chunk in self._reader.chunks(self._descriptor, self._source):
            self._take(chunk)

    @property
    def seen(self) -> tuple[object, ...]:
        """Records with their lines, offset, tail and counters."""
        decoded = decode_lines(self.data, 1)
        counted = (decoded.lines, decoded.bad_lines, decoded.glued_lines, decoded.unknown_types.total())
        records = [(record.uuid, record.type) for record in decoded.records]
        where = (self._source.offset, self._source.tail)
        return records, decoded.line_numbers, where, counted, self.oversized

    def close(self) -> None:
        os.close(self._descriptor)

    def _take(self, chunk: Chunk) -> None:
        assert chunk.oversized or chunk.data.endswith(b"\n")
        self.data += chunk.data
        self.oversized += chunk.oversized
        self._source.offset, self._source.tail = chunk.next_offset, chunk.tail


@contextmanager
def tail() -> Iterator[Tail]:
    with TemporaryDirectory() as directory:
        found = Tail(Path(directory) / "t.jsonl")
        try:
            yield found
        finally:
            found.close()


def read_at_once(data: bytes) -> tuple[object, ...]:
    with tail() as whole:
        whole.append(data)
        whole.read()
        return whole.seen


@settings(max_examples=150, deadline=None)
@given(transcripts, st.lists(st.integers(0, 10_000), max_size=12), st.binary(max_size=40))
def test_any_split_of_the_bytes_into_appends_gives_the_same_records(
    data: bytes, cuts: list[int], unfinished: bytes
) -> None:
    """Records, line numbers, offset, digest and counters do not depend on where the writes were cut."""
    data += unfinished
    expected = read_at_once(data)
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    with tail() as split:
        for start, end in itertools.pairwise(places):
            split.append(data[start:end])
            split.read()
        assert split.seen == expected


@settings(max_examples=25, deadline=None)
@given(good_lines)
def test_a_record_that_arrives_byte_by_byte_is_seen_once_and_only_when_its_line_ends(data: bytes) -> None:
    """Also when the cut falls into the middle of a character."""
    with tail() as split:
        for byte in data[:-1]:
            split.append(bytes([byte]))
            split.read()
            assert split.data == b""
        split.append(data[-1:])
        split.read()
        assert split.seen == read_at_once(data)
        assert split.data == data


def test_a_partial_last_line_waits_for_its_end() -> None:
    """Bytes after the last newline are left for the next read."""
    with tail() as partial:
        partial.append(line(1) + line(2)[:-1])
        partial.read()
        assert partial.data == line(1)
        partial.append(b"\n")
        partial.read()
        assert partial.data == line(1) + line(2)


def test_a_line_longer_than_the_chunk_is_read_whole() -> None:
    long = b'{"type":"user","content":"' + b"y" * (SHORT_LIMIT - 100) + b'"}\n'
    with tail() as file:
        file.append(line(1)[:0] + long)
        file.read()
        assert file.data == long
        assert file.oversized == 0


def test_a_line_longer_than_the_limit_is_counted_and_the_next_one_is_read() -> None:
    with tail() as file:
        file.append(b"x" * (SHORT_LIMIT + 5) + b"\n" + b'{"type":"mode"}\n')
        file.read()
        assert file.oversized == 1
        assert file.data.endswith(b'\n{"type":"mode"}\n')


def test_the_fingerprint_stays_the_same_while_the_file_grows_and_is_empty_before_the_first_line_ends() -> (
    None
):
    assert fingerprint(line(1)[:-1]) == ""
    assert fingerprint(line(1)) == fingerprint(line(1) + line(2)) != fingerprint(line(2))
    long = b"z" * 5000
    assert fingerprint(long[:1024]) == fingerprint((long + b"\n")[:1024]) != ""


def test_the_line_boundary_before_a_cut_is_found_however_far_back(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a\n" + b"b" * (3 << 20))
    descriptor = os.open(file, os.O_RDONLY)
    try:
        assert line_boundary_before(descriptor, file.stat().st_size) == 2
        assert line_boundary_before(descriptor, 1) == 0
    finally:
        os.close(descriptor)
