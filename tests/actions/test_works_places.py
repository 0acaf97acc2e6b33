"""The work of a project is found again wherever its directory is: below, beside, moved, cloned again."""

import shutil
import time
from pathlib import Path

import pytest

from flowd.actions.brief import BriefingRequest, compose
from flowd.actions.works import WorkUpdater
from flowd.config.settings import LiveSettings
from flowd.model.facts import WorkChanged, state_fact
from flowd.model.session import Deeds, Evidence, SessionState
from flowd.sinks.handoff_yaml import HandoffYamlSink
from flowd.store.database import Database
from flowd.store.handoff_fields import user_fields_fact
from flowd.store.journal import Batch, Journal
from flowd.store.works import Works
from flowd.workspace.project import resolve_project
from tests.support.git import git

NOW = time.time()


class Desk:
    """Sessions that work in directories, and what the next one is told there."""

    def __init__(self, database: Database, settings: LiveSettings) -> None:
        self.database = database
        self.updater = WorkUpdater(database)
        self.sink = HandoffYamlSink(database, settings)

    def work(
        self,
        place: Path,
        goal: str,
        *files: str,
        age_s: float = 600,
        branch: str = "main",
        evidence: Evidence | None = None,
    ) -> None:
        """Work on *goal* in *place*."""
        project = resolve_project(str(place))
        assert project is not None
        state = SessionState(
            session_id=goal,
            project=project.root,
            repository=project.repository,
            worktree=project.worktree,
            goal=goal,
            branch=branch,
            files=files,
            started_at=NOW - age_s - 60,
            last_activity_at=NOW - age_s,
            evidence=evidence or Evidence(),
        )
        batch = Batch()
        batch.facts.append(state_fact(state))
        self.updater.update(batch)
        Journal(self.database).commit(batch)
        for fact in batch.stored:
            if isinstance(fact.body, WorkChanged):
                self.sink.accept(fact)
        self.sink.flush()

    def told(self, place: Path) -> str:
        """Return what a session that starts in *place* is told."""
        asked = BriefingRequest(cwd=str(place), session_id="new", source="startup")
        found = compose(self.database, asked)
        assert found.warning == ""
        return found.text


@pytest.fixture
def desk(database: Database, tmp_path: Path) -> Desk:
    return Desk(database, LiveSettings(tmp_path / "config.yaml"))


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    """Return a repository to clone from."""
    path = tmp_path / "upstream"
    path.mkdir()
    git(path, "init")
    git(path, "commit", "--allow-empty", "-m", "first")
    return path


def clone(upstream: Path, path: Path) -> Path:
    git(upstream, "clone", "-q", f"file://{upstream}", str(path))
    return path


def test_a_session_in_a_sub_directory_is_told_of_the_projects_work(desk: Desk, project: Path) -> None:
    desk.work(project, "Mend the parser", "parser.py", "lexer.py")
    (project / "src" / "deep").mkdir(parents=True)
    assert "**Goal:** Mend the parser" in desk.told(project / "src" / "deep")


def test_a_moved_project_keeps_its_work_and_its_users_fields(
    desk: Desk, project: Path, tmp_path: Path
) -> None:
    desk.work(project, "Mend the parser", "parser.py", "lexer.py")
    fields = user_fields_fact(Journal(desk.database), str(project), {"hypothesis": "It is the lexer"}, "s")
    Journal(desk.database).append(fields)
    moved = project.rename(tmp_path / "renamed")
    text = desk.told(moved)
    assert "**Goal:** Mend the parser" in text
    assert "**Hypothesis:** It is the lexer" in text
    assert Works(desk.database).of_project(str(project)) == []
    desk.work(moved, "Mend the lexer", "lexer.py", "tokens.py", age_s=60)
    (work,) = Works(desk.database).of_project(str(moved))
    assert work.sessions == ("Mend the parser", "Mend the lexer")


def test_a_repository_that_is_cloned_again_has_its_work(desk: Desk, upstream: Path, tmp_path: Path) -> None:
    first = clone(upstream, tmp_path / "first")
    desk.work(first, "Mend the parser", "parser.py", "lexer.py")
    shutil.rmtree(first)
    again = clone(upstream, tmp_path / "again")
    assert "**Goal:** Mend the parser" in desk.told(again)


def test_the_work_of_a_clone_that_is_still_there_is_named_as_that_clones(
    desk: Desk, upstream: Path, tmp_path: Path
) -> None:
    first, second = clone(upstream, tmp_path / "first"), clone(upstream, tmp_path / "second")
    desk.work(first, "Mend the parser", "parser.py", "lexer.py")
    desk.work(second, "Build the exporter", "csv.py", "rows.py")
    text = desk.told(second)
    assert "**Goal:** Build the exporter" in text
    assert f"Mend the parser (in {first}" in text


def test_the_work_of_another_worktree_is_named_as_that_worktrees(
    desk: Desk, upstream: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(upstream, "worktree", "add", "-q", str(other))
    desk.work(upstream, "Mend the parser", "parser.py", "lexer.py")
    desk.work(other, "Build the exporter", "csv.py", "rows.py", branch="other")
    text = desk.told(other)
    assert "**Goal:** Build the exporter" in text
    assert f"Mend the parser (in {upstream}" in text


def test_a_branch_that_is_switched_to_and_back_has_its_work(desk: Desk, upstream: Path) -> None:
    git(upstream, "checkout", "-q", "-b", "parser")
    desk.work(upstream, "Mend the parser", "parser.py", "lexer.py", branch="parser")
    git(upstream, "checkout", "-q", "-b", "exporter")
    desk.work(upstream, "Build the exporter", "csv.py", "rows.py", branch="exporter", age_s=60)
    assert "**Goal:** Build the exporter" in desk.told(upstream)
    git(upstream, "checkout", "-q", "parser")
    assert "**Goal:** Mend the parser" in desk.told(upstream)
    git(upstream, "checkout", "-q", "exporter")
    assert "**Goal:** Build the exporter" in desk.told(upstream)


def test_another_project_at_a_path_that_is_gone_is_told_nothing_of_it(
    desk: Desk, project: Path, tmp_path: Path
) -> None:
    desk.work(project, "Mend the parser", "parser.py", "lexer.py")
    shutil.rmtree(project)
    stranger = tmp_path / "stranger"
    (stranger / ".git").mkdir(parents=True)
    assert desk.told(stranger) == ""


def test_what_a_person_commits_and_pushes_by_hand_is_no_open_step(
    desk: Desk, upstream: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare.git"
    git(upstream, "clone", "-q", "--bare", f"file://{upstream}", str(bare))
    place = clone(bare, tmp_path / "shop")
    deeds = Deeds(edited_at=NOW - 600)
    desk.work(place, "Mend the parser", "parser.py", "lexer.py", evidence=Evidence(deeds=deeds))
    assert "Commit the changes" in desk.told(place)
    git(place, "commit", "--allow-empty", "-m", "Mend it")
    assert "Commit the changes" not in desk.told(place)
    committed = Deeds(edited_at=NOW - 600, committed_at=NOW - 60)
    desk.work(place, "Mend the parser", "parser.py", "lexer.py", evidence=Evidence(deeds=committed))
    assert "Push main" in desk.told(place)
    git(place, "push", "-q", "origin", "main")
    assert "Push main" not in desk.told(place)
