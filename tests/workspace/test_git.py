"""What git's files and ``git status`` say about a checkout."""

import os
from pathlib import Path

import pytest

from flowd.workspace.git import uncommitted_files
from tests.support.git import git


def test_uncommitted_files_are_named_from_the_project_below_the_top(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "größe und mehr.py").touch()
    (tmp_path / "top.py").touch()
    git(tmp_path, "add", "-A")
    assert uncommitted_files(str(tmp_path / "app")) == ["größe und mehr.py"]
    assert sorted(uncommitted_files(str(tmp_path))) == ["app/größe und mehr.py", "top.py"]


def test_a_name_that_is_no_text_is_left_out(tmp_path: Path) -> None:
    git(tmp_path, "init")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).touch()
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (tmp_path / "a.py").touch()
    git(tmp_path, "add", "-A")
    assert uncommitted_files(str(tmp_path)) == ["a.py"]


def test_without_git_or_a_repository_nothing_is_uncommitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert uncommitted_files(str(tmp_path)) == []
    git(tmp_path, "init")
    (tmp_path / "a.py").touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert uncommitted_files(str(tmp_path)) == []
