"""The one atomic write, on a real file system."""

import errno
import os
import stat
from pathlib import Path

import pytest

from flowd.system.files import atomic_write, move_without_replacing, read_line, read_whole


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_an_old_one_may_keep_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic_write(path, "one")
    assert (path.read_text(), mode_of(path)) == ("one", 0o600)
    path.chmod(0o640)
    atomic_write(path, b"two", mode=0o644, keep_mode=True)
    assert (path.read_bytes(), mode_of(path)) == (b"two", 0o640)
    atomic_write(path, "three", mode=0o644)
    assert mode_of(path) == 0o644


def test_exclusive_never_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a"
    atomic_write(path, "one", exclusive=True)
    with pytest.raises(FileExistsError):
        atomic_write(path, "two", exclusive=True)
    assert path.read_text() == "one"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("is_taken", [False, True])
def test_exclusive_works_where_the_file_system_has_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    def no_links(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    if is_taken:
        (tmp_path / "a").write_text("old")
        with pytest.raises(FileExistsError):
            atomic_write(tmp_path / "a", "new", exclusive=True)
    else:
        atomic_write(tmp_path / "a", "new", exclusive=True)
    assert (tmp_path / "a").read_text() == ("old" if is_taken else "new")
    assert os.listdir(tmp_path) == ["a"]


def test_a_link_is_replaced_and_its_target_left_alone(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    atomic_write(tmp_path / "link", "ours")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "theirs"


def test_a_failure_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        atomic_write(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_names_are_looked_up_from_an_open_directory(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        atomic_write("a", "text", dir_fd=descriptor, modified_ns=5 * 10**9)
        move_without_replacing("a", "b", dir_fd=descriptor)
    finally:
        os.close(descriptor)
    assert (tmp_path / "b").read_text() == "text"
    assert (tmp_path / "b").stat().st_mtime == 5.0
    assert os.listdir(tmp_path) == ["b"]


def test_only_regular_files_within_the_limit_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_whole(str(tmp_path / "a"), 5) == b"12345"
    with pytest.raises(ValueError, match="5 bytes, more than the limit of 4"):
        read_whole(str(tmp_path / "a"), 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        read_whole(str(tmp_path / "pipe"), 4)
    assert read_line(str(tmp_path / "pipe")) == read_line("a\0b") == ""
    with pytest.raises(ValueError, match="not a regular file"):
        read_whole(str(tmp_path), 4)
