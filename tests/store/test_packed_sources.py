"""Known transcripts: packed while nobody is at work on them, and nothing is lost by it."""

import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from flowd.store.packed_sources import PackedSource
from flowd.store.sources import Source, as_int64

numbers = st.integers(0, 2**63 - 1)
sources = st.builds(
    Source,
    path=st.just("/projects/p/s.jsonl"),
    size=numbers,
    mtime_ns=st.integers(-(2**63), 2**63 - 1),
    inode=numbers,
    device=st.integers(-(2**31), 2**63 - 1),
    is_subagent=st.booleans(),
    state=st.sampled_from(["live", "vanished", "replaced"]),
    fingerprint=st.text(),
    generation=numbers,
    session_id=st.text(),
    offset=numbers,
    lines=numbers,
    records=numbers,
    tail=st.binary(max_size=8),
    first_seen_at=st.floats(allow_nan=False),
    last_read_at=st.floats(allow_nan=False),
    id=numbers,
)


def packed(source: Source) -> PackedSource:
    kept = PackedSource(source.path, source)
    kept.pack()
    return kept


@given(sources)
def test_what_was_packed_comes_back_unchanged(source: Source) -> None:
    """Every field survives, whatever it holds."""
    assert packed(source).unpack() == source


@given(sources)
def test_packed_or_not_a_source_answers_alike(source: Source) -> None:
    """The questions that a look at the disk asks need no unpacking."""
    asleep, awake = packed(source), PackedSource(source.path, source)
    assert (asleep.identity, asleep.is_live, asleep.is_subagent) == (
        awake.identity,
        awake.is_live,
        awake.is_subagent,
    )
    assert asleep.mentions(source.session_id)
    assert awake.mentions(source.session_id)


def test_a_file_looks_as_it_was_read_until_it_is_written_to(tmp_path: Path) -> None:
    """Size, time and inode are compared, packed or not."""
    file = tmp_path / "s.jsonl"
    file.write_bytes(b"{}\n")
    status = os.stat(file)
    source = Source(
        path=str(file),
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        inode=status.st_ino,
        device=status.st_dev,
        fingerprint="f",
    )
    both = [PackedSource(source.path, source), packed(source)]
    assert all(kept.is_as_read(status) for kept in both)
    with file.open("ab") as written:
        written.write(b"{}\n")
    assert not any(kept.is_as_read(os.stat(file)) for kept in both)


def test_a_packed_source_does_not_mention_another_session() -> None:
    """Most transcripts are passed over without unpacking."""
    source = Source(path="/p", inode=1, device=1, fingerprint="f", session_id="session-a")
    assert not packed(source).mentions("session-b")


@given(st.integers(0, 2**64 - 1), st.integers(-(2**70), 2**70))
def test_an_inode_or_a_time_beyond_63_bits_is_stored_and_recognised(inode: int, modified_ns: int) -> None:
    """Some file systems number inodes with 64 bits, and a file may be dated after 2262."""
    source = Source(
        path="/p", fingerprint="f", device=1, inode=as_int64(inode), mtime_ns=as_int64(modified_ns)
    )
    status = SimpleNamespace(st_size=0, st_mtime_ns=modified_ns, st_ino=inode)
    for known in (packed(source), PackedSource("/p", source)):
        assert known.is_as_read(status)  # type: ignore[arg-type]  # a stand-in for a stat result
        assert known.identity == (1, as_int64(inode))
    connection = sqlite3.connect(":memory:")
    assert connection.execute("select ?, ?", (source.inode, source.mtime_ns)).fetchone()
    connection.close()
