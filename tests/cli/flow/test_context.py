"""``flow context`` on a real core.db in a home of its own."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.cli.flow import context, main
from flowd.handoff.block.find import blocks_in_markdown
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.system.errors import FlowdError
from tests.support.commands import run_verb


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A project whose tasks 1 and 2 left blocks."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    with closing(Context().database) as database:
        for number in (1, 2):
            text = f"# Task {number}: Part {number}\n## Handoff\noutcome: completed\n"
            (found,) = blocks_in_markdown(
                f"{text}gotchas: [{{issue: Trap {chr(64 + number)}, severity: high}}]\n"
            )
            place = Provenance(project=str(tmp_path), file=f"tasks/{number}.md", at=float(number))
            keep_block(database, found, place)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_verb(context, *words) == 0
    return capsys.readouterr().out


def test_without_more_words_the_newest_tasks_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    titles = [line for line in printed(capsys, "3").splitlines() if line.startswith("## ")]
    assert titles == ["## From Task 2: Part 2", "## From Task 1: Part 1"]


def test_the_tasks_asked_for_are_told_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "3", "--from", "task-1", "2")
    assert out.index("## From Task 1") < out.index("## From Task 2")


def test_a_task_without_a_block_is_an_error() -> None:
    with pytest.raises(FlowdError, match="no valid block of task-9"):
        run_verb(context, "3", "--from", "task-9")


def test_what_the_project_learned_follows_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "## Learned Context" not in printed(capsys, "3")
    assert printed(capsys, "3", "--learned").count("- Trap") == 2


def test_programs_get_the_whole_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    (told,) = json.loads(printed(capsys, "3", "--from", "1", "--json"))["contexts"]
    assert told["block"]["outcome"] == "completed"


def test_a_task_without_a_name_or_a_project_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["context", ""]) == 2
    assert main(["context", "5", "--project", str(tmp_path / "nope")]) == 1
    assert "there is no directory" in capsys.readouterr().err
