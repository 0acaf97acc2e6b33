"""What git's files and ``git status`` say about a checkout."""

import os
from pathlib import Path

import pytest

from flowd.workspace.git import head_commit, origin, tracked_files, uncommitted_files
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


@pytest.mark.parametrize("name", ["evil", "a=b", "with.dots", 'quo"te'])
@pytest.mark.parametrize("where", ["config", "included"])
def test_no_program_of_the_repository_runs_when_asked_what_changed(
    tmp_path: Path, name: str, where: str
) -> None:
    git(tmp_path, "init")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "one")
    ran = tmp_path.parent / f"ran-{where}-{len(name)}"
    config = tmp_path / ".git" / "config"
    filters = config if where == "config" else tmp_path / ".git" / "more"
    if where == "included":
        with config.open("a") as file:
            file.write("[include]\n\tpath = more\n")
    quoted = name.replace('"', '\\"')
    with filters.open("a") as file:
        file.write(f'[filter "{quoted}"]\n\tclean = "touch {ran}; cat"\n\trequired = true\n')
        file.write(f'[core]\n\tfsmonitor = "touch {ran}"\n\tpager = "touch {ran}"\n')
    (tmp_path / ".gitattributes").write_text(f"* filter={name}\n")
    hook = tmp_path / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    (tmp_path / "a.txt").write_text("two\n")
    assert "a.txt" in uncommitted_files(str(tmp_path))
    assert not ran.exists()


def test_a_missing_object_is_not_fetched_by_a_program_of_the_repository(tmp_path: Path) -> None:
    """git fetches what a partial clone lacks, from a place and by a program that the repository names."""
    git(tmp_path, "init")
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    for file in (tmp_path / ".git" / "objects").glob("??/*"):
        file.unlink()
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    with (tmp_path / ".git" / "config").open("a") as config:
        config.write(
            f'[extensions]\n\tpartialClone = o\n[remote "o"]\n\turl = {tmp_path}\n\tpromisor = true\n'
        )
        config.write(f"\tuploadpack = {program}\n[core]\n\trepositoryFormatVersion = 1\n")
    assert uncommitted_files(str(tmp_path)) == []
    assert not (tmp_path / "ran").exists()


def test_a_worktree_that_the_repository_puts_elsewhere_is_not_looked_into(tmp_path: Path) -> None:
    git(tmp_path, "init", "app")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "letter.txt").touch()
    with (tmp_path / "app" / ".git" / "config").open("a") as file:
        file.write(f"[core]\n\tworktree = {tmp_path / 'private'}\n")
    (tmp_path / "app" / "a.py").touch()
    assert uncommitted_files(str(tmp_path / "app")) == ["a.py"]


def test_files_that_git_tracks_are_told_from_those_it_does_not(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "app" / "deep").mkdir(parents=True)
    for name in ("app/kept.md", "app/deep/kept.md", "app/loose.md"):
        (tmp_path / name).touch()
    assert tracked_files(str(tmp_path / "app"), "kept.md") == frozenset()
    git(tmp_path, "add", "app/kept.md", "app/deep/kept.md")
    found = tracked_files(str(tmp_path / "app"), "kept.md", "loose.md", "deep")
    assert found == {"kept.md", "deep/kept.md"}


def test_a_name_is_no_pattern_for_what_git_tracks(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "ab.md").touch()
    git(tmp_path, "add", "-A")
    assert tracked_files(str(tmp_path), "*.md", ":(top)ab.md") == frozenset()
    assert tracked_files(str(tmp_path.parent / "no repository"), "ab.md") == frozenset()


def test_a_program_below_a_relative_path_entry_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init")
    (tmp_path / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    uncommitted_files(str(tmp_path))
    assert not (tmp_path / "ran").exists()


def test_a_reflog_that_is_a_fifo_is_passed_over(tmp_path: Path) -> None:
    git(tmp_path, "init")
    logs = tmp_path / ".git" / "logs"
    logs.mkdir(exist_ok=True)
    os.mkfifo(logs / "HEAD")
    assert head_commit(str(tmp_path)) == ""


@pytest.mark.parametrize(
    "url",
    [
        "git@example.org:ada/shop.git",
        "https://example.org/ada/shop",
        "https://ada:x@example.org/ada/shop.git",
        "ssh://git@example.org/ada/shop/",
    ],
)
def test_the_origin_is_the_same_however_its_url_is_written(tmp_path: Path, url: str) -> None:
    (tmp_path / "api").mkdir()
    git(tmp_path, "init")
    assert origin(str(tmp_path)) == ""
    git(tmp_path, "remote", "add", "upstream", "https://example.org/else")
    git(tmp_path, "remote", "add", "origin", url)
    assert origin(str(tmp_path)) == "example.org/ada/shop ."
    assert origin(str(tmp_path / "api")) == "example.org/ada/shop api"


@pytest.mark.parametrize(
    "way", ["relative", "in the project", "above the project", "linked to the project", "in another"]
)
def test_a_git_that_the_repository_brings_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Tools put the programs of a project into PATH, and so does a person by mistake."""
    git(tmp_path, "init", "app")
    (tmp_path / "app" / "deep" / "bin").mkdir(parents=True)
    program = tmp_path / "app" / "deep" / "bin" / "git"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    program.chmod(0o755)
    (tmp_path / "link").symlink_to(program.parent)
    root = tmp_path / "app" / ("deep" if way == "above the project" else ".")
    entry = {"relative": "deep/bin", "linked to the project": str(tmp_path / "link")}.get(
        way, str(program.parent)
    )
    if way == "in another":
        git(tmp_path, "init", "other")
        (tmp_path / "other" / "new.py").touch()
        root = tmp_path / "other"
    monkeypatch.chdir(tmp_path / "app")
    monkeypatch.setenv("PATH", f"{entry}:{os.environ['PATH']}")
    assert uncommitted_files(str(root))
    assert not (tmp_path / "ran").exists()
