"""``flow knowledge`` on a real core.db in a home of its own."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.cli.flow import knowledge
from flowd.handoff.block.find import blocks_in_markdown
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.system.errors import FlowdError
from tests.support.commands import run_verb

TEXT = """\
# Task 4: Sign in
## Handoff
outcome: completed
files_created:
  - path: src/gate.py
    purpose: Lets people in
blockers:
  - blocker: No test account
    blocking_tasks: [task-5]
patterns_discovered:
  - id: pattern-001
    pattern: Authentication goes through one gate
    location: src/gate.py
    applies_to: [auth]
gotchas:
  - issue: The login page is cached
    mitigation: Vary on the cookie
    severity: high
"""


@pytest.fixture
def project(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose one task left a block, as the working directory."""
    monkeypatch.chdir(project)
    keep(str(project))
    return project


def keep(root: str) -> None:
    (found,) = blocks_in_markdown(TEXT)
    place = Provenance(project=root, session_id="5e55", file="tasks/task-4.md", at=1_700_000_000.0)
    with closing(Context().database) as database:
        keep_block(database, found, place)


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run_verb(knowledge, *words) == 0
    return capsys.readouterr().out


def test_which_tasks_discovered_patterns_about_auth_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = printed(capsys, "search", "auth", "--type", "pattern")
    assert "Authentication goes through one gate" in out
    assert "#auth · Task 4: Sign in" in out


def test_a_search_for_programs_names_tasks_and_ids(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (found,) = json.loads(printed(capsys, "search", "--severity", "high", "--json", "--project", "."))[
        "nodes"
    ]
    assert (found["summary"], found["tasks"]) == ("The login page is cached", ["Task 4: Sign in"])
    assert printed(capsys, "search", "nonsense") == "nothing found\n"


def test_a_node_is_shown_with_who_said_it_where(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "show", "pattern-001")
    assert "in tasks/task-4.md:3 of session 5e55" in out
    assert "task-4 discovered it" in out
    (known,) = json.loads(printed(capsys, "show", "task-4", "--json"))["nodes"]
    assert len(known["edges"]) == 4


def test_a_task_is_shown_with_its_files_and_what_stands_in_the_way(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = printed(capsys, "show", "task-4")
    assert "file     src/gate.py: Lets people in" in own
    assert "blocker  No test account (active)" in own
    assert "blocked  No test account" in printed(capsys, "show", "task-5")


def test_a_pinned_node_is_marked_until_it_is_unpinned(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "pin", "pattern-001")
    assert " *\n" in printed(capsys, "search", "gate", "--type", "pattern")
    printed(capsys, "pin", "--undo", "pattern-001")
    assert " *\n" not in printed(capsys, "search", "gate", "--type", "pattern")


def test_a_forgotten_node_is_not_found(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "forget", "pattern-001")
    assert printed(capsys, "search", "gate", "--type", "pattern") == "nothing found\n"
    with pytest.raises(FlowdError, match="no node with id pattern-001"):
        run_verb(knowledge, "forget", "pattern-001")


def test_what_two_projects_have_must_be_told_apart(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keep(str(tmp_path / "other"))
    with pytest.raises(FlowdError, match="is ambiguous"):
        run_verb(knowledge, "forget", "pattern-001")
    printed(capsys, "forget", "pattern-001", "--project", ".")
    assert "gate" in printed(capsys, "show", "pattern-001")


def test_the_graph_goes_out_and_in(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "graph.json"
    file.write_text(printed(capsys, "export"), encoding="utf-8")
    assert printed(capsys, "import", file) == "imported 4 nodes\n"
    (found,) = json.loads(printed(capsys, "search", "gate", "--type", "pattern", "--json"))["nodes"]
    assert found["mentions"] == 2
    assert printed(capsys, "export", "--format", "mermaid").startswith("graph LR\n")
    assert printed(capsys, "export", "--format", "dot", "--project", ".").startswith("digraph")
