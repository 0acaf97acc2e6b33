"""``flow block`` as a person and as pre-commit type it."""

import json
import re
from importlib import resources
from pathlib import Path

import pytest

from flowd.cli.flow import block, main
from flowd.system.errors import FlowdError
from tests.support.commands import run_verb
from tests.support.repository import ROOT

VALID = "# Task 1: Till\n\n## Handoff\n\n```yaml\noutcome: completed\ngotchas: []\n```\n"
INVALID = VALID.replace("outcome: completed", "outcome: partial").replace("gotchas: []", "lines: 3")
NOTES = "# Notes\n\nStatus: done\n\n## Gotchas\n- The till beeps\n"


def file(tmp_path: Path, text: str, name: str = "task-1.md") -> Path:
    place = tmp_path / name
    place.write_text(text, encoding="utf-8")
    return place


def test_a_valid_block_is_said_to_be_valid_and_how_complete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = file(tmp_path, VALID)
    assert run_verb(block, "validate", place) == 0
    assert capsys.readouterr().out == (
        f"{place}:6: valid, 33 % complete (missing: files_created/files_modified, patterns_discovered, "
        "dependencies_for_next, suggested_next_steps)\n"
    )


def test_violations_are_printed_with_their_lines_and_exit_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = file(tmp_path, INVALID)
    other = file(tmp_path, "# Nothing here\n", "other.md")
    assert run_verb(block, "validate", place, other) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{place}:6: blockers: is required when outcome is partial"
    assert lines[-1] == f"{other}: no block"


def test_the_report_for_programs_has_every_violation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_verb(block, "validate", "--json", file(tmp_path, INVALID)) == 1
    (report,) = json.loads(capsys.readouterr().out)["files"]
    assert [violation["field"] for violation in report["blocks"][0]["violations"]] == [
        "blockers",
        "suggested_next_steps",
    ]


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_an_error_with_its_name(tmp_path: Path, content: bytes | None) -> None:
    place = tmp_path / "x.md"
    if content:
        place.write_bytes(content)
    with pytest.raises(FlowdError, match=r"x\.md"):
        run_verb(block, "validate", place)


def test_migrating_prints_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = file(tmp_path, NOTES)
    assert run_verb(block, "migrate", place) == 0
    assert "- issue: The till beeps" not in NOTES
    assert "issue: The till beeps" in capsys.readouterr().out
    assert place.read_text(encoding="utf-8") == NOTES
    assert list(tmp_path.iterdir()) == [place]


def test_writing_keeps_the_mode_and_a_backup_of_each_former_file(tmp_path: Path) -> None:
    place = file(tmp_path, NOTES)
    place.chmod(0o640)
    file(tmp_path, "older", "task-1.md.bak")
    assert run_verb(block, "migrate", "--write", place) == 0
    assert place.read_text(encoding="utf-8").startswith(NOTES)
    assert place.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "task-1.md.bak").read_text(encoding="utf-8") == "older"
    assert (tmp_path / "task-1.md.bak1").read_text(encoding="utf-8") == NOTES
    assert run_verb(block, "validate", place) == 0
    with pytest.raises(FlowdError, match="already has a block"):
        run_verb(block, "migrate", "--write", place)


def test_what_would_break_a_rule_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = file(tmp_path, NOTES.replace("done", "partial"))
    assert run_verb(block, "migrate", "--write", place) == 1
    assert "blockers: is required when outcome is partial" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [place]


def test_notes_without_anything_for_a_block_are_refused_rather_than_called_completed(tmp_path: Path) -> None:
    place = file(tmp_path, "kind: recipe\ntitle: Soup\n", "recipe.yml")
    with pytest.raises(FlowdError, match="has nothing to put into a block"):
        run_verb(block, "migrate", "--write", place)
    assert list(tmp_path.iterdir()) == [place]


def test_a_guessed_outcome_is_not_written_until_a_person_says_it(tmp_path: Path) -> None:
    place = file(tmp_path, NOTES.replace("Status: done\n", ""))
    assert run_verb(block, "migrate", place) == 0
    with pytest.raises(FlowdError, match="does not contain the outcome"):
        run_verb(block, "migrate", "--write", place)
    assert list(tmp_path.iterdir()) == [place]
    assert run_verb(block, "migrate", "--write", "--outcome", "completed", place) == 0
    assert run_verb(block, "validate", place) == 0


def test_a_yaml_document_gets_its_block_beside_it(tmp_path: Path) -> None:
    text = "status: complete\ngoal: x\nnow: y\nnext:\n  - Measure\n"
    place = file(tmp_path, text, "note.yaml")
    assert run_verb(block, "migrate", "--write", place) == 0
    assert place.read_text(encoding="utf-8") == text
    assert run_verb(block, "validate", tmp_path / "note.md") == 0
    with pytest.raises(FlowdError, match=r"note\.md already exists"):
        run_verb(block, "migrate", "--write", place)


def test_the_migration_for_programs_has_block_and_doubts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_verb(block, "migrate", "--json", file(tmp_path, NOTES)) == 0
    migrated = json.loads(capsys.readouterr().out)
    assert migrated["block"]["gotchas"][0]["issue"] == "The till beeps"
    assert migrated["doubts"] == []


def test_the_schema_is_printed_as_published(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb(block, "schema") == 0
    published = (
        resources.files("flowd.handoff.block").joinpath("block.schema.json").read_text(encoding="utf-8")
    )
    assert capsys.readouterr().out == published
    assert json.loads(published)["required"] == ["outcome"]


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("tasks/task-1.md", True),
        ("web/tasks/task-1.md", True),
        (".claude/a/journal/task-1.md", True),
        (".claude/journal/task-1.md", True),
        (".orchestrator/state/task-1.md", True),
        ("conductor/tracks/auth/plan.md", True),
        ("docs/tasks.md", False),
        ("README.md", False),
    ],
)
def test_the_shipped_hook_checks_the_task_files_that_flowd_watches(path: str, *, is_checked: bool) -> None:
    yaml = pytest.importorskip("yaml")
    root = ROOT
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert bool(re.search(hook["files"], path)) is is_checked
    assert hook["entry"].split() == ["flow", "block", "validate"]


def test_validate_masks_the_patterns_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))
    file = tmp_path / "task.md"
    file.write_text("## Handoff\n\n```yaml\noutcome: ACME-123456\n```\n")
    main(["block", "validate", str(file), "--json"])
    printed = capsys.readouterr().out
    assert "redacted:custom" in printed
    assert "ACME" not in printed
