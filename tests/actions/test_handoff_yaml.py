"""handoff.yaml outside of a session: init, the state of the checkout, reading without creating."""

from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.actions.handoff_yaml import has_folder, init_project, read_handoff, save_state
from flowd.handoff.yaml.document import default_fields
from flowd.model.work import Work
from flowd.sinks.handoff_yaml import handoff_of
from flowd.store.handoff_fields import VALUES_KEPT, HandoffYamlState, HandoffYamlStates
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


def test_an_empty_handoff_says_the_same_whoever_writes_it(project: Path, tmp_path: Path) -> None:
    """Init, save-state and the sink take the default fields from one function."""
    other = tmp_path / "other"
    other.mkdir()
    with Context() as context:
        assert init_project(context, str(project)).is_new
        save_state(context, str(other))
    by_init, by_person = read_handoff(project), default_fields(project, in_session=False)
    by_save_state, in_session = read_handoff(other), default_fields(other, in_session=True)
    by_sink = handoff_of(Work(id="w", project=str(other), touched_at=1.0))
    assert {field: by_init[field] for field in by_person} == by_person
    assert {field: by_save_state[field] for field in in_session} == in_session
    assert {field: by_sink[field] for field in in_session} == in_session


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
