"""Where flowd's files live."""

import os
from pathlib import Path

import pytest

from flowd.config.paths import MAX_SOCKET_PATH, claude_config_dir, make_private_dir, resolve_paths


def test_everything_lies_in_the_home_unless_told_otherwise(private_home: Path) -> None:
    for place in (*resolve_paths(), claude_config_dir()):
        assert place.is_relative_to(private_home)
    assert list(private_home.iterdir()) == []


def test_each_root_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "a.yaml"))
    for name in ("DATA", "STATE", "RUNTIME"):
        monkeypatch.setenv(f"FLOWD_{name}_DIR", str(tmp_path / name))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    paths = resolve_paths()
    assert paths == (tmp_path / "a.yaml", tmp_path / "DATA", tmp_path / "STATE", tmp_path / "RUNTIME")
    assert claude_config_dir() == tmp_path / "claude"


def test_a_socket_path_that_the_kernel_would_refuse_gets_a_short_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", str(tmp_path / ("long" * 30)))
    first = resolve_paths().socket
    assert len(os.fsencode(first)) <= MAX_SOCKET_PATH
    monkeypatch.setenv("FLOWD_RUNTIME_DIR", str(tmp_path / ("other" * 30)))
    assert resolve_paths().socket != first


def test_a_private_directory_has_private_parents_and_leaves_others_alone(tmp_path: Path) -> None:
    open_one = tmp_path / "open"
    open_one.mkdir()
    open_one.chmod(0o755)
    make_private_dir(open_one / "a" / "b")
    make_private_dir(open_one / "a" / "b")
    modes = [
        directory.stat().st_mode & 0o777 for directory in (open_one, open_one / "a", open_one / "a" / "b")
    ]
    assert modes == [0o755, 0o700, 0o700]
