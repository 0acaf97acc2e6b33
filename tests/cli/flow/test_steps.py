"""``flow next``, ``done``, ``drop``, ``save --clear`` and ``show`` on a work with open steps."""

import json
import subprocess
import time
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.cli.flow import main
from flowd.handoff.yaml.api import load_handoff
from flowd.model.facts import state_fact
from flowd.model.session import Evidence, OpenStep, SessionState, TurnSummary
from tests.support.commands import FlowCommand

DAY_S = 86_400.0


@pytest.fixture
def flow(capsys: pytest.CaptureFixture[str]) -> FlowCommand:
    return FlowCommand(capsys)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which a session has left two steps open, nine days ago."""
    root = tmp_path / "shop"
    root.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    monkeypatch.chdir(root)
    at = time.time() - 9 * DAY_S
    steps = (OpenStep("Add the VAT column", "todo", at), OpenStep("Document the exporter", "reply", at))
    turns = (TurnSummary("Write the exporter", "It writes all orders.", at, True),)
    state = SessionState(
        session_id="monday",
        project=str(root),
        branch="main",
        started_at=at - 60,
        last_activity_at=at,
        status="completed",
        goal="Write the exporter",
        now="It writes all orders.",
        files=("exporter.py", "orders.py"),
        evidence=Evidence(topic="Write the exporter", request="Write the exporter", steps=steps, turns=turns),
    )
    with Context() as context:
        context.journal.append(state_fact(state))
    return root


def test_next_lists_the_open_steps_with_number_source_and_age(project: Path, flow: FlowCommand) -> None:
    printed = flow.flow("next")
    assert "  1. Add the VAT column  (to-do list, 9 days ago)" in printed
    assert "  2. Document the exporter  (reply, 9 days ago)" in printed
    first = json.loads(flow.flow("next", "--json"))["steps"][0]
    assert (first["n"], first["text"], first["source"]) == (1, "Add the VAT column", "todo")
    assert first["age_s"] == pytest.approx(9 * DAY_S, abs=60)


def test_done_and_drop_close_steps_and_the_work_is_completed(project: Path, flow: FlowCommand) -> None:
    assert json.loads(flow.flow("show", "--json"))["work"]["status"] == "in_progress"
    assert flow.flow("done", "1").strip() == "done: Add the VAT column"
    assert flow.flow("drop", "1").strip() == "dropped: Document the exporter"
    assert flow.flow("next").strip() == "nothing is open"
    assert json.loads(flow.flow("show", "--json"))["work"]["status"] == "completed"


def test_a_person_adds_a_step_and_it_comes_first(project: Path, flow: FlowCommand) -> None:
    flow.flow("next", "add", "Ask", "Eva", "about", "rounding")
    steps = json.loads(flow.flow("next", "--json"))["steps"]
    assert (steps[0]["text"], steps[0]["source"]) == ("Ask Eva about rounding", "person")
    flow.flow("done", "1", "3")
    assert [step["text"] for step in json.loads(flow.flow("next", "--json"))["steps"]] == [
        "Add the VAT column"
    ]


def test_a_number_that_is_not_there_is_an_error_with_a_hint(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("done", "7")) == 1
    assert "there is no step 7" in capsys.readouterr().err


def test_a_step_needs_the_work_of_a_session_also_after_saved_words(
    tmp_path: Path, flow: FlowCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.chdir(tmp_path)
    flow.flow("save", "Parser done", "--goal", "Ship it")
    refused = flow.flow("next", "add", "Write the tests", code=1)
    assert "no session has worked in this project yet" in refused
    assert "start Claude Code here first" in refused


def test_all_lists_the_steps_of_every_project(
    project: Path, flow: FlowCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    flow.flow("next")
    elsewhere = project.parent / "other"
    elsewhere.mkdir()
    subprocess.run(["git", "init", "-q", str(elsewhere)], check=True)
    monkeypatch.chdir(elsewhere)
    assert flow.flow("next").strip() == "nothing is open"
    assert str(project) in flow.flow("next", "--all")


def test_nothing_to_save_is_said_and_fails(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("save",)) == 1
    assert "nothing to save" in capsys.readouterr().err
    assert main(("save", "--goal", " ")) == 1
    assert "flow save --clear goal" in capsys.readouterr().err


def test_saved_words_are_marked_as_yours_and_can_be_taken_back(project: Path, flow: FlowCommand) -> None:
    flow.flow("save", "--goal", "Ship the exporter", "--outcome", "Half of it")
    assert "(your words, just now; `flow save --clear goal` ends them)" in " ".join(flow.flow("show").split())
    flow.flow("save", "--clear", "goal", "outcome")
    handoff = load_handoff(project)
    assert handoff is not None
    assert (handoff["goal"], handoff["outcome"]) == ("Write the exporter", None)
    assert "(your words" not in flow.flow("show")


def test_a_new_goal_resets_status_and_outcome(project: Path, flow: FlowCommand) -> None:
    flow.flow("save", "--status", "completed", "--outcome", "Done")
    flow.flow("save", "--goal", "Ship it everywhere")
    handoff = load_handoff(project)
    assert handoff is not None
    assert (handoff["status"], handoff["outcome"]) == ("in_progress", None)
    assert "**Status:** in_progress" in flow.flow("inject")


def test_show_has_the_lines_of_the_briefing(project: Path, flow: FlowCommand) -> None:
    told = [line.removeprefix("- ") for line in flow.flow("inject", "--level", "L2").splitlines()]
    items = [line for line in told if line and not line.startswith(("**", "<", "#", "Notes ", "Since "))]
    page = " ".join(flow.flow("show").split())  # it is wrapped
    assert items
    assert [item for item in items if item not in page] == []
    assert "**" not in page
