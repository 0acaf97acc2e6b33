"""What has changed since a state was written, found without starting git."""

import os
import time
from pathlib import Path

import pytest

from flowd.workspace.drift import RecordedState, commits_since, drift
from tests.support.git import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A real repository with one commit on ``main``."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    commit(root, "first.py")
    return root


def commit(root: Path, name: str) -> None:
    (root / name).write_text("x")
    git(root, "add", name)
    git(root, "commit", "-q", "-m", f"Add {name}")


def test_nothing_has_drifted_right_after(repository: Path) -> None:
    assert drift(str(repository), RecordedState("main", ("first.py",), time.time() + 1)) == []


def test_another_branch_is_named_with_the_old_one(repository: Path) -> None:
    then = RecordedState("main", (), time.time() + 1)
    git(repository, "checkout", "-q", "-b", "feature/x")
    assert drift(str(repository), then) == ["the branch was main, now it is feature/x"]


def test_commits_after_the_moment_are_counted(repository: Path) -> None:
    commit(repository, "second.py")
    assert commits_since(str(repository), time.time() - 3600) == 2
    assert commits_since(str(repository), time.time() + 5) == 0
    assert "2 commits since" in drift(str(repository), RecordedState("main", (), time.time() - 3600))


def test_files_that_are_gone_or_changed_are_named(repository: Path) -> None:
    long_ago = time.time() - 3600
    os.utime(repository / "first.py", (long_ago - 60, long_ago - 60))
    (repository / "new.py").write_text("changed after")
    told = drift(str(repository), RecordedState("main", ("first.py", "new.py", "a", "b", "c", "d"), long_ago))
    assert "gone: a, b, c (+1 more)" in told
    assert "changed since: new.py" in told


def test_outside_a_repository_only_files_can_drift(tmp_path: Path) -> None:
    assert drift(str(tmp_path), RecordedState("main", ("gone.py",), 1.0)) == ["gone: gone.py"]


def test_a_damaged_reflog_counts_as_none(repository: Path) -> None:
    (repository / ".git" / "logs" / "HEAD").write_bytes(b"\xff\xfe nonsense\n\tcommit\n \n")
    assert commits_since(str(repository), 1.0) == 0
