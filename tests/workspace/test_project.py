"""Which project a directory belongs to."""

import os
import tempfile
from pathlib import Path

import pytest

from flowd.workspace.git import read_branch
from flowd.workspace.project import Project, find_project_root, resolve_project
from tests.support.git import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a git repository with one commit on the branch main."""
    path = tmp_path / "repository"
    path.mkdir()
    git(path, "init")
    git(path, "commit", "--allow-empty", "-m", "first")
    return path


@pytest.mark.parametrize("marker", [".flow-guardian", ".git"])
def test_a_marker_directory_makes_the_root(tmp_path: Path, marker: str) -> None:
    (tmp_path / marker).mkdir()
    nested = tmp_path / "a" / "b"
    nested.mkdir(parents=True)
    assert find_project_root(str(nested)) == tmp_path.resolve()


@pytest.mark.parametrize("marker", [".git", "pyproject.toml"])
def test_a_marker_file_makes_the_root(tmp_path: Path, marker: str) -> None:
    (tmp_path / marker).write_text("")
    (tmp_path / "a").mkdir()
    assert find_project_root(str(tmp_path / "a")) == tmp_path.resolve()


def test_the_nearest_marker_wins_over_a_stronger_one_above(tmp_path: Path) -> None:
    (tmp_path / ".flow-guardian").mkdir()
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("")
    assert find_project_root(str(inner)) == inner.resolve()


def test_a_marker_of_the_wrong_kind_is_none(tmp_path: Path) -> None:
    (tmp_path / "a" / "pyproject.toml").mkdir(parents=True)
    (tmp_path / "a" / ".flow-guardian").write_text("")
    assert find_project_root(str(tmp_path / "a")) == (tmp_path / "a").resolve()


def test_without_a_marker_the_start_is_the_root_resolved(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert find_project_root(str(tmp_path / "link")) == (tmp_path / "real").resolve()


def test_the_working_directory_is_the_default_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert find_project_root() == tmp_path.resolve()


def test_a_deleted_working_directory_still_has_a_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    assert find_project_root() == gone


def test_a_repository_is_known_by_its_git_directory(repository: Path) -> None:
    (repository / "src").mkdir()
    project = resolve_project(str(repository / "src"))
    assert project == Project(str(repository), str(repository / ".git"), "")


def test_a_package_inside_a_repository_keeps_the_repositorys_identity(repository: Path) -> None:
    package = repository / "packages" / "one"
    package.mkdir(parents=True)
    (package / "pyproject.toml").write_text("")
    assert resolve_project(str(package)) == Project(str(package), str(repository / ".git"), "")


def test_a_worktree_shares_the_repository_and_is_named(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-b", "side", str(tmp_path / "beside"))
    project = resolve_project(str(tmp_path / "beside"))
    assert project == Project(str(tmp_path / "beside"), str(repository / ".git"), "beside")
    assert read_branch(tmp_path / "beside") == "side"
    assert read_branch(repository) == "main"


def test_a_submodule_is_a_repository_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", str(repository), "module")
    project = resolve_project(str(repository / "module"))
    assert project == Project(str(repository / "module"), str(repository / ".git" / "modules" / "module"), "")
    assert read_branch(repository / "module") == "main"


def test_a_project_without_git_is_its_own_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    assert resolve_project(str(tmp_path)) == Project(str(tmp_path), str(tmp_path), "")


def test_home_root_and_temporary_roots_are_no_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in (str(tmp_path), "/", tempfile.gettempdir(), "/tmp", "/var/tmp"):
        assert resolve_project(place) is None


def test_dotfiles_kept_in_home_claim_no_project_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "pyproject.toml").write_text("")
    code = str(tmp_path / "code")
    assert resolve_project(str(tmp_path / "notes")) is None
    assert resolve_project(code) == Project(code, code, "")


def test_a_vanished_directory_is_its_own_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    gone = str(tmp_path / "gone" / "deeper")
    assert resolve_project(gone) == Project(gone, gone, "")


@pytest.mark.parametrize("odd", ["", "relative/path", "."])
def test_a_directory_that_is_not_absolute_belongs_to_no_project(odd: str) -> None:
    assert resolve_project(odd) is None


def test_a_name_the_system_refuses_raises_nothing() -> None:
    assert resolve_project("/a\0b") == Project("/a\0b", "/a\0b", "")


def test_a_detached_head_is_told_by_its_short_commit(repository: Path) -> None:
    git(repository, "checkout", "--detach")
    commit = (repository / ".git" / "HEAD").read_text()
    assert read_branch(repository) == commit[:7]


def test_a_branch_name_keeps_its_slashes(repository: Path) -> None:
    git(repository, "checkout", "-b", "fix/jwt/expiry")
    assert read_branch(str(repository)) == "fix/jwt/expiry"


@pytest.mark.parametrize("head", ["", "nonsense", "ref: refs/heads/.invalid", "ref: refs/heads/a\x1b[2J"])
def test_a_head_that_names_no_branch_gives_nothing(repository: Path, head: str) -> None:
    (repository / ".git" / "HEAD").write_text(head)
    assert read_branch(repository) == ""


def test_no_git_means_no_branch(tmp_path: Path) -> None:
    assert read_branch(tmp_path) == ""


@pytest.mark.parametrize("content", ["", "gitdir:", "something else", "gitdir: /nowhere/at/all"])
def test_a_strange_git_file_raises_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    project = resolve_project(str(tmp_path))
    assert project is not None
    assert project.root == str(tmp_path)
    assert read_branch(tmp_path) == ""


def test_a_git_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert resolve_project(str(tmp_path)) == Project(str(tmp_path), str(tmp_path), "")


@pytest.mark.parametrize("way", ["a link", "its repository", "its worktree", "a made-up worktree"])
def test_a_directory_does_not_become_a_part_of_another_repository_by_saying_so(
    repository: Path, tmp_path: Path, way: str
) -> None:
    """Sessions of one repository are told of its worktrees: a stranger's directory must not be one."""
    git(repository, "worktree", "add", "-b", "side", str(tmp_path / "beside"))
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    if way == "a link":
        (stranger / ".git").symlink_to(repository / ".git")
    elif way == "a made-up worktree":
        (stranger / "fake").mkdir()
        (stranger / "fake" / "HEAD").write_text("ref: refs/heads/main\n")
        (stranger / "fake" / "commondir").write_text(f"{repository / '.git'}\n")
        (stranger / "fake" / "gitdir").write_text(f"{stranger / '.git'}\n")
        (stranger / ".git").write_text("gitdir: fake\n")
    else:
        target = repository / ".git" / ("worktrees/beside" if way == "its worktree" else "")
        (stranger / ".git").write_text(f"gitdir: {target}\n")
    found, own = resolve_project(str(stranger)), resolve_project(str(repository))
    assert found is not None
    assert own is not None
    assert found.repository != own.repository
    assert found.worktree == ""
