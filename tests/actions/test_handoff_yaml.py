"""handoff.yaml outside of a session: init, the state of the checkout, reading without creating."""

from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.actions.handoff_yaml import has_folder, init_project, read_handoff, save_state
from flowd.handoff.yaml.api import load_handoff
from flowd.handoff.yaml.document import default_fields
from flowd.model.work import Work
from flowd.sinks.handoff_yaml import HandoffYamlSink
from flowd.store.handoff_yaml_state import VALUES_KEPT, HandoffYamlState, HandoffYamlStates
from flowd.store.works import work_fact
from tests.support.git import git


def test_reading_creates_nothing(project: Path) -> None:
    assert read_handoff(project) == {}
    assert not has_folder(project)


def test_save_state_keeps_all_the_values_that_the_sink_has_recorded(project: Path) -> None:
    """The sink and save_state record flowd's own values by the same function."""
    values = tuple(f"Goal {number}" for number in range(VALUES_KEPT - 1))
    with Context() as context:
        states = HandoffYamlStates(context.database)
        states.put(HandoffYamlState(str(project), written={"goal": values}))
        save_state(context, str(project))
        kept = states.get(str(project)).written["goal"]
    assert kept == (f"Working on {project.name}", *values)


def test_own_values_are_bounded_and_the_latest_comes_first() -> None:
    state = HandoffYamlState("/shop")
    for number in range(VALUES_KEPT + 5):
        state = state.with_written({"goal": f"Goal {number}", "outcome": ""})
    assert len(state.written["goal"]) == VALUES_KEPT
    assert state.written["goal"][0] == f"Goal {VALUES_KEPT + 4}"
    assert "outcome" not in state.written
    again = state.with_written({"goal": f"Goal {VALUES_KEPT + 2}"})
    assert again.written["goal"][:2] == (f"Goal {VALUES_KEPT + 2}", f"Goal {VALUES_KEPT + 4}")


def test_an_empty_handoff_says_the_same_whoever_writes_it(project: Path) -> None:
    """Init, save-state and the sink take the default fields from one function."""
    defaults = default_fields(project, in_session=True)
    with Context() as context:
        assert init_project(context, str(project)).is_new
        begun = load_handoff(project)
        save_state(context, str(project))
        HandoffYamlSink(context.database, context.live_settings).accept(
            work_fact(Work(id="w", session_id="s", project=str(project), touched_at=4e9))
        )
    written = load_handoff(project)
    assert begun is not None
    assert written is not None
    assert {field: begun[field] for field in defaults} == default_fields(project, in_session=False)
    assert {field: written[field] for field in defaults} == defaults


def test_init_leaves_a_handoff_as_it_is(project: Path) -> None:
    with Context() as context:
        assert init_project(context, str(project)).is_new
        assert not init_project(context, str(project)).is_new


def test_without_core_db_the_state_is_saved_all_the_same(project: Path) -> None:
    with Context() as context:
        broken = context.paths.database
        broken.parent.mkdir(parents=True)
        broken.write_bytes(b"this is not a database" * 100)
        save_state(context, str(project))
    assert read_handoff(project)["now"] == "Session in progress"


def test_a_pattern_of_the_settings_is_masked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(config))
    git(project, "init", "-q")
    (project / "ACME-123456.txt").write_text("")
    with Context() as context:
        save_state(context, str(project))
    assert read_handoff(project)["files"] == ["[redacted:custom].txt"]
