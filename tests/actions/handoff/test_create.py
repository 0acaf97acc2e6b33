"""Create a handoff: each thing is read once, the document is indexed without reading it again."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.actions.context import Context
from flowd.actions.handoff import create, project
from flowd.actions.handoff.create import HandoffRequest, create_handoff
from flowd.actions.handoff.escalation import acknowledge, escalate
from flowd.actions.handoff.project import open_project
from flowd.config import settings as settings_module
from flowd.handoff.markdown import index, parse
from flowd.handoff.markdown.index import index_path, refresh_index
from tests.support.git import git


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git project with one uncommitted file, as the working directory."""
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "parser.py").write_text("x = 1\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return root


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """A context whose settings have a secret pattern."""
    (tmp_path / "config.yaml").write_text("redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))
    with Context() as context:
        yield context


def test_settings_and_git_status_are_read_once_and_the_document_never(
    shop: Path, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()
    for module, name in (
        (settings_module, "load_settings"),
        (create, "uncommitted_files"),
        (index, "read_bytes"),
        (project, "current_state"),
    ):
        monkeypatch.setattr(module, name, counting(calls, name, getattr(module, name)))
    create_handoff(open_project(context), HandoffRequest(purpose="First"))
    assert calls == {"load_settings": 1, "uncommitted_files": 1, "current_state": 1}
    calls.clear()
    create_handoff(open_project(context), HandoffRequest(purpose="Second"))
    # The first document is read when the project is opened; the index that it belongs to, to compare it.
    assert calls == {"uncommitted_files": 1, "current_state": 1, "read_bytes": 2}


def counting(calls: Counter[str], name: str, function: object) -> object:
    def counted(*arguments: object) -> object:
        calls[name] += 1
        return function(*arguments)  # type: ignore[operator]  # a function of a module

    return counted


def test_what_is_indexed_is_what_reading_the_file_would_give(shop: Path, context: Context) -> None:
    handoffs = open_project(context)
    result = create_handoff(handoffs, HandoffRequest(purpose="Ship it", next=("Test it",), gotchas=("É",)))
    (read,) = open_project(context).documents
    (fact,) = context.journal.facts_of_kind("handoff")
    assert result.path == read.file.path
    assert (fact.body.purpose, fact.body.open_items) == ("Ship it", ("Test it",))  # type: ignore[union-attr]  # an index
    assert (fact.body.modified_ns, fact.body.size) == (read.file.modified_ns, read.file.size)  # type: ignore[union-attr]  # the same
    written = Path(index_path(handoffs.directory)).read_text()
    assert "Ship it" in written
    assert Path(refresh_index(handoffs.directory)).read_text() == written


def test_a_pattern_of_the_settings_is_masked_everywhere(shop: Path, context: Context) -> None:
    (shop / "ACME-654321.txt").write_text("")
    handoffs = open_project(context)
    result = create_handoff(handoffs, HandoffRequest(purpose="Rotate ACME-123456", next=("See ACME-123456",)))
    escalate(open_project(context), "ACME-123456 leaked")
    written = Path(result.path).read_text() + Path(index_path(handoffs.directory)).read_text()
    stored = [str(fact) for kind in ("handoff", "checkpoint") for fact in context.journal.facts_of_kind(kind)]
    assert "Rotate [redacted:custom]" in written
    assert "ACME" not in written + "".join(stored)


def test_an_escalation_is_open_until_it_is_acknowledged(shop: Path, context: Context) -> None:
    path = escalate(open_project(context), "drops a table")
    handoffs = open_project(context)
    assert [(found.path, found.reason) for found in handoffs.escalations] == [(path, "drops a table")]
    (seen,) = acknowledge(handoffs, os.path.basename(path), every_project=False)
    assert seen.reason == "drops a table"
    assert open_project(context).escalations == []
    assert parse.read_document(Path(path).read_text()).escalations
