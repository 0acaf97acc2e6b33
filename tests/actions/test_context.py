"""One context per process: settings, redactor and core.db are loaded once, when they are needed."""

from pathlib import Path

import pytest

from flowd.actions.context import Context, current_state, find_project, find_session
from flowd.config import settings as settings_module
from flowd.config.settings import LoadedSettings, load_settings
from flowd.model.facts import state_fact
from flowd.model.session import PERSON, SessionState
from flowd.store.database import Database
from flowd.store.journal import Journal
from flowd.system.errors import FlowdError
from flowd.workspace.project import Project

HERE = SessionState(session_id="here", project="/shop", repository="/shop/.git", last_activity_at=10)
WORKTREE = SessionState(session_id="tree", project="/shop-fix", repository="/shop/.git", last_activity_at=20)
STATES = [WORKTREE, HERE]  # the latest first


@pytest.mark.parametrize(
    ("session_id", "found"),
    [("here", HERE), ("tree", WORKTREE), ("new", None), ("", HERE)],
)
def test_a_session_is_found_by_its_id_and_for_a_person_by_the_directory(
    session_id: str, found: SessionState | None
) -> None:
    assert find_session(STATES, session_id, "/shop") == found


def test_a_session_of_another_worktree_is_never_taken_for_a_persons(database: Database) -> None:
    Journal(database).append(state_fact(WORKTREE))
    state = current_state(Journal(database), Project("/shop", "/shop/.git", ""), "")
    assert state == SessionState(session_id=PERSON, project="/shop")


def test_settings_are_read_once_and_core_db_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Path] = []

    def load(file: Path) -> LoadedSettings:
        loaded.append(file)
        return load_settings(file)

    monkeypatch.setattr(settings_module, "load_settings", load)
    with Context() as context:
        assert context.settings is context.settings
        assert context.redact is context.redact
        assert context.database is context.database
        assert context.journal.newest() == 0
    assert loaded == [context.paths.config_file]


def test_a_context_that_is_not_used_reads_and_creates_nothing() -> None:
    with Context() as context:
        pass
    assert not context.paths.data_dir.exists()


def test_a_given_database_is_left_open(database: Database) -> None:
    with Context(database=database) as context:
        context.journal.newest()
    assert database.version() >= 0  # a closed one raises


def test_the_patterns_of_the_settings_are_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(config))
    with Context() as context:
        assert context.redact("see ACME-123456") == "see [redacted:custom]"
        config.write_text("redaction: {patterns: ['ZETA-[0-9]{6}']}\n")
        context.live_settings.reload()
        assert context.redact("ACME-123456 ZETA-123456") == "ACME-123456 [redacted:custom]"


def test_outside_of_a_project_the_error_says_where_and_what_to_do() -> None:
    with pytest.raises(FlowdError, match="is not in a project") as raised:
        find_project("/")
    assert "change into a project" in raised.value.hint
