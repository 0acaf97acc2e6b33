"""What is watched besides transcripts; and a working directory is mapped to its project."""

import os
import time
from pathlib import Path

import pytest

from flowd.daemon.projects import watchers as resolver_module
from flowd.daemon.projects import watchers as watchers_module
from flowd.daemon.projects.watchers import ProjectResolver, ProjectWatchers
from flowd.daemon.reading.failures import Failures
from flowd.daemon.reading.watcher import NoWatcher
from flowd.model.facts import HandoffIndexed
from flowd.model.session import SessionState
from flowd.redaction.redactor import redact
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.workspace.project import Project, resolve_project
from tests.support.following import live_redactor
from tests.support.track_project import TrackProject


class Watched(NoWatcher):
    """Watches every directory that exists."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.directories: set[str] = set()

    def watch(self, directory: str) -> bool:
        if Path(directory).is_dir():
            self.directories.add(directory)
            return True
        return False


class Watching:
    """Project watchers, and a state of a session that works in a project."""

    def __init__(self, database: Database, root: Path) -> None:
        self.handoffs_dir = root / "handoffs"
        self.watcher = Watched()
        self.projects = ProjectWatchers(
            Journal(database),
            self.watcher,
            ["tasks/**/*.md"],
            str(self.handoffs_dir),
            live_redactor(),
            Failures(redact),
        )

    def follow(self, project: Path, age_s: float = 0.0) -> list[str]:
        at = time.time() - age_s
        return self.projects.follow(SessionState(session_id="s1", project=str(project), last_activity_at=at))


@pytest.fixture
def watching(database: Database, tmp_path: Path) -> Watching:
    return Watching(database, tmp_path)


def test_the_project_of_a_live_session_is_scanned_once(watching: Watching, project: Path) -> None:
    assert watching.follow(project) == [str(project)]
    assert watching.follow(project) == []
    assert str(project / ".git") in watching.watcher.directories


def test_neither_old_sessions_nor_sessions_without_a_project_are_followed(
    watching: Watching, project: Path
) -> None:
    assert watching.follow(project, age_s=watchers_module.LIVE_S + 60) == []
    assert watching.follow(Path()) != [""]
    assert watching.projects.follow(SessionState(session_id="s1", last_activity_at=time.time())) == []
    assert str(project / ".git") not in watching.watcher.directories


def test_a_branch_is_read_for_every_project_of_that_head(watching: Watching, project: Path) -> None:
    watching.follow(project)
    head = project / ".git" / "HEAD"
    head.write_text("ref: refs/heads/feature/x\n")
    assert watching.projects.changed_branches(str(head)) == [(str(project), "feature/x")]
    assert watching.projects.changed_branches(str(project / "HEAD")) == []


def test_a_conductor_that_comes_later_is_found_when_the_project_is_followed_again(
    watching: Watching, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching.follow(project)
    shop = TrackProject(project).make()
    watching.follow(project)
    assert not watching.projects.owns(str(shop.folder / "plan.json"))
    monkeypatch.setattr(watchers_module, "FOLLOW_AGAIN_S", -1.0)
    watching.projects._follow_again_at.clear()
    watching.follow(project)
    assert watching.projects.owns(str(shop.folder / "plan.json"))
    assert watching.projects.track_events(str(shop.folder / "plan.md")) == []
    shop.plan("xx  ")
    (event,) = watching.projects.track_events(str(shop.folder / "plan.md"))
    assert (event.trigger, event.track, event.epic) == ("epic-end", shop.track, "E1")


def test_a_project_without_conductor_has_nothing_to_process_again_but_its_task_files(
    watching: Watching, project: Path
) -> None:
    watching.follow(project)
    assert watching.projects.paths() == [str(project)]
    assert sorted(os.listdir(project)) == [".git"]


def test_changed_task_files_of_a_followed_project_are_found(watching: Watching, project: Path) -> None:
    task = project / "tasks" / "one.md"
    task.parent.mkdir()
    task.write_text("# A task\n")
    assert watching.projects.scan(str(project)) == []
    watching.follow(project)
    assert watching.projects.scan(str(project)) == [str(task)]
    watching.projects.facts(str(task))
    assert watching.projects.scan(str(project)) == []


def test_a_handoff_document_becomes_a_fact(watching: Watching) -> None:
    file = watching.handoffs_dir / "-work-shop" / "2026-01-02_03-04-05_handoff.md"
    file.parent.mkdir(parents=True)
    file.write_text("# Handoff: the shop\n\n## Summary\n\nDone.\n")
    found = watching.projects.facts(str(watching.handoffs_dir))
    assert [fact.body.path for fact in found if isinstance(fact.body, HandoffIndexed)] == [str(file)]
    assert watching.projects.facts(str(file)) == []


def test_a_new_watcher_watches_the_projects_again(watching: Watching, project: Path) -> None:
    watching.follow(project)
    fresh = Watched()
    watching.projects.use_watcher(fresh)
    assert watching.follow(project) == [str(project)]
    assert str(project / ".git") in fresh.directories


def test_only_paths_of_projects_and_handoffs_are_owned(watching: Watching, project: Path) -> None:
    watching.follow(project)
    owned = (f"{project}/.git/HEAD", f"{project}/tasks/a.md", str(project), f"{watching.handoffs_dir}/-p")
    assert all(watching.projects.owns(path) for path in owned)
    assert not watching.projects.owns("/home/x/.claude/projects/-p")


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

    assert len(resolver._cache) <= 4


def test_a_session_that_enters_a_part_of_its_repository_stays_with_its_project(project: Path) -> None:
    """A package below the root has a pyproject.toml of its own; the work is still the root's."""
    part = project / "packages" / "till"
    part.mkdir(parents=True)
    (part / "pyproject.toml").touch()
    assert ProjectResolver().resolve(str(part), str(project)).root == str(project)
    assert ProjectResolver().resolve(str(part), str(part)).root == str(part)


def test_a_session_that_enters_another_repository_belongs_to_that(project: Path) -> None:
    other = project / "vendor" / "lib"
    (other / ".git").mkdir(parents=True)
    assert ProjectResolver().resolve(str(other), str(project)).root == str(other)
