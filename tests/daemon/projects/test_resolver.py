"""A working directory is mapped to its project, and asked of the disk rarely."""

from pathlib import Path

import pytest

from flowd.daemon.projects import resolver as resolver_module
from flowd.daemon.projects.resolver import ProjectResolver
from flowd.workspace.project import Project, resolve_project


def test_a_directory_of_a_project_is_mapped_to_its_root(project: Path) -> None:
    (project / "src").mkdir()
    assert ProjectResolver().resolve(str(project / "src"), "").root == str(project)


def test_a_cwd_that_is_in_no_project_falls_back_to_the_first_one(project: Path) -> None:
    assert ProjectResolver().resolve("/", str(project)).root == str(project)


@pytest.mark.parametrize("cwd", ["", "/"])
def test_what_is_in_no_project_has_no_root(cwd: str) -> None:
    assert ProjectResolver().resolve(cwd, cwd).root == ""


def test_an_answer_is_reused_until_it_expires(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(cwd: str) -> Project | None:
        asked.append(cwd)
        return resolve_project(cwd)

    monkeypatch.setattr(resolver_module, "resolve_project", ask)
    resolver = ProjectResolver()
    for _ in range(3):
        resolver.resolve(str(project), str(project))
    assert asked == [str(project)]
    monkeypatch.setattr(resolver_module, "CACHED_S", -1.0)
    expiring = ProjectResolver()
    for _ in range(2):
        expiring.resolve(str(project), str(project))
    assert len(asked) == 3


def test_the_cache_stays_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver_module, "MAX_CACHED", 3)
    resolver = ProjectResolver()
    for number in range(10):
        resolver.resolve(str(tmp_path / str(number)), "")
    assert len(resolver._cache) <= 4
