"""Save: core.db first, then handoff.yaml; neither depends on the other."""

import time
from pathlib import Path

import pytest

from flowd.actions import save as saving
from flowd.actions.context import Context
from flowd.actions.save import SaveRequest, save
from flowd.extractors.work.user_edits import with_words
from flowd.handoff.yaml.api import load_handoff, merge_into_file
from flowd.model.facts import state_fact
from flowd.model.session import SessionState
from flowd.model.work import Work
from flowd.store.handoff_fields import UserFields, user_fields
from flowd.store.works import Works
from flowd.system.errors import FlowdError
from flowd.workspace.project import Project, resolve_project


@pytest.fixture
def shop(project: Path) -> Project:
    found = resolve_project(str(project))
    assert found is not None
    return found


def test_the_fields_are_in_core_db_before_they_are_in_the_file(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_before: list[UserFields] = []
    with Context() as context:

        def spy(*arguments: object, **options: object) -> object:
            known_before.append(user_fields(context.journal, shop.root)[0])
            return merge_into_file(*arguments, **options)  # type: ignore[arg-type]  # passed on as they are

        monkeypatch.setattr(saving, "merge_into_file", spy)
        save(context, shop, SaveRequest(now="Halfway", goal="Ship it"))
    reset = {"status": "in_progress", "outcome": ""}
    assert known_before == [{"goal": "Ship it", "now": "Halfway"} | reset]


def test_a_file_that_cannot_be_written_loses_nothing(shop: Project) -> None:
    (Path(shop.root) / ".flow-guardian").write_text("not a folder")
    with Context() as context:
        with pytest.raises(FlowdError, match=r"saved in core\.db, but not in handoff\.yaml"):
            save(context, shop, SaveRequest(now="Halfway"))
        assert user_fields(context.journal, shop.root)[0] == {"now": "Halfway"}


def test_without_core_db_the_file_is_written_and_the_error_is_returned(
    shop: Project, private_home: Path
) -> None:
    with Context() as context:
        broken = context.paths.database
        broken.parent.mkdir(parents=True)
        broken.write_bytes(b"this is not a database" * 100)
        result = save(context, shop, SaveRequest(now="Halfway"))
    assert result.store_error is not None
    assert result.handoff["now"] == "Halfway"
    assert load_handoff(Path(shop.root)) == result.handoff


def test_a_pattern_of_the_settings_is_masked_in_both(
    shop: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(config))
    with Context() as context:
        result = save(context, shop, SaveRequest(now="Use ACME-123456", files=("ACME-123456.txt",)))
        stored = user_fields(context.journal, shop.root)[0]
    assert result.handoff["now"] == stored["now"] == "Use [redacted:custom]"
    assert result.handoff["files"] == stored["files"] == ["[redacted:custom].txt"]


def test_a_person_does_not_save_into_the_session_of_another_worktree(shop: Project) -> None:
    with Context() as context:
        elsewhere = SessionState(
            session_id="tree", project="/elsewhere", repository=shop.repository, last_activity_at=5
        )
        context.journal.append(state_fact(elsewhere))
        save(context, shop, SaveRequest(now="Mine"))
        (checkpoint,) = context.journal.facts_of_project(shop.root, "checkpoint", 9)
    assert checkpoint.session_id == "person"


def test_the_checkpoint_of_a_session_carries_its_state_and_the_fields(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "mine")
    with Context() as context:
        state = SessionState(session_id="mine", project=shop.root, goal="Old", branch="main")
        context.journal.append(state_fact(state))
        save(context, shop, SaveRequest(goal="New"))
        (checkpoint,) = context.journal.facts_of_session("mine", "checkpoint")
    assert (checkpoint.body.state.goal, checkpoint.body.state.branch) == ("New", "main")  # type: ignore[union-attr]  # of a checkpoint


def test_a_message_after_completed_reopens_the_work(shop: Project) -> None:
    """Whoever says what they are doing now is not done."""
    with Context() as context:
        save(context, shop, SaveRequest(status="completed", outcome="Shipped", goal="Ship it"))
        handoff = save(context, shop, SaveRequest(now="One more thing")).handoff
    assert (handoff["status"], handoff["outcome"], handoff["goal"]) == ("in_progress", None, "Ship it")


@pytest.mark.parametrize("status", ["blocked", "completed"])
def test_a_status_that_comes_with_the_message_stands(shop: Project, status: str) -> None:
    with Context() as context:
        handoff = save(context, shop, SaveRequest(now="Waiting for the key", status=status)).handoff
    assert handoff["status"] == status


def test_a_message_leaves_what_the_person_said_is_blocked(shop: Project) -> None:
    with Context() as context:
        save(context, shop, SaveRequest(status="blocked"))
        assert save(context, shop, SaveRequest(now="Still waiting")).handoff["status"] == "blocked"


def test_a_message_does_not_keep_the_work_open_for_good(shop: Project) -> None:
    """When a request has been worked on since, flowd says again whether it is done."""
    with Context() as context:
        save(context, shop, SaveRequest(status="completed"))
        save(context, shop, SaveRequest(now="One more thing"))
        later = Work(id="w", project=shop.root, status="completed", now="Done", worked_at=time.time() + 5)
        words = Works(context.database).words(shop.root)
        assert with_words(later, words[""]).status == "completed"


def test_a_fresh_file_has_the_fields_of_the_schema_in_their_order(shop: Project) -> None:
    with Context() as context:
        handoff = save(context, shop, SaveRequest(now="Halfway")).handoff
    assert list(handoff) == [
        *("goal", "status", "now", "hypothesis", "outcome", "files", "branch", "timestamp", "session_id")
    ]
