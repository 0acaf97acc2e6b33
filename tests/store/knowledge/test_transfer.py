"""The graph as documents, and back."""

import json
from pathlib import Path

import pytest

from flowd.handoff.block.find import blocks_in_markdown
from flowd.store.database import Database
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.store.knowledge.search import NodeQuery, find_nodes, search
from flowd.store.knowledge.transfer import as_dot, as_json, as_mermaid, import_graph, load_graph
from flowd.store.migrations import migrate
from flowd.system.errors import FlowdError

PROJECT = "/home/someone/shop"
LONG = "A gotcha that needs far more words than the hundred which a summary of the graph may have, " * 2
TEXT = f"""\
# Task 3: "Till"

## Handoff

outcome: blocked
patterns_discovered:
  - pattern: Round at the end; use `Decimal` <always>
    location: src/money.py
    applies_to: [prices, rounding]
gotchas:
  - issue: {LONG}
    mitigation: Read it twice
    severity: high
blockers:
  - blocker: No printer
    blocking_tasks: [task-4]
"""
# As the specification's origin writes it.
ORIGIN = {
    "version": 1,
    "last_updated": "2025-02-03T10:00:00Z",
    "nodes": [
        {
            "id": "task-001",
            "type": "task",
            "tags": ["auth"],
            "summary": "Sign in",
            "file": "journal/task-001-sign-in.md",
            "created": "2025-02-01",
            "connections": ["pattern-001"],
        },
        {
            "id": "pattern-001",
            "type": "pattern",
            "tags": ["auth", "User State"],
            "summary": "One gate for all",
            "file": None,
            "created": "2025-02-02",
            "connections": ["task-001"],
        },
    ],
    "tag_index": {"auth": ["task-001", "pattern-001"]},
}


def keep(database: Database) -> None:
    (found,) = blocks_in_markdown(TEXT)
    keep_block(database, found, Provenance(project=PROJECT, file="tasks/3.md", at=86_400.0))


def test_the_json_has_the_origins_shape(database: Database) -> None:
    keep(database)
    document = json.loads(as_json(load_graph(database)))
    assert list(document) == ["version", "last_updated", "nodes", "tag_index"]
    assert (document["version"], document["last_updated"]) == (1, "1970-01-02T00:00:00Z")
    task, pattern, gotcha, _ = document["nodes"]
    assert list(task) == ["id", "type", "tags", "summary", "file", "created", "connections"]
    assert (task["file"], task["created"]) == ("tasks/3.md", "1970-01-02")
    assert set(task["connections"]) == {pattern["id"], gotcha["id"], "task-4"}
    assert pattern["connections"] == ["task-3"]
    assert (len(gotcha["summary"]), gotcha["text"], gotcha["severity"]) == (100, LONG.strip(), "high")
    assert document["tag_index"] == {tag: ["task-3", pattern["id"]] for tag in ("prices", "rounding")}


def test_an_export_imported_elsewhere_exports_the_same(database: Database, tmp_path: Path) -> None:
    keep(database)
    exported = as_json(load_graph(database, PROJECT))
    migrate(tmp_path / "other.db")
    other = Database(tmp_path / "other.db")
    assert import_graph(other, exported.encode(), PROJECT, "graph.json") == 4
    assert import_graph(other, exported.encode(), PROJECT, "graph.json") == 4
    again = json.loads(as_json(load_graph(other)))
    other.close()
    expected = json.loads(exported)
    for document in (again, expected):
        for node in document["nodes"]:
            node["connections"].sort()
    assert again == expected


def test_the_origins_graph_comes_in_with_ids_tags_and_edges(database: Database) -> None:
    import_graph(database, json.dumps(ORIGIN).encode(), PROJECT, "knowledge_graph.json")
    (pattern,) = find_nodes(database, "pattern-001")
    assert (pattern.summary, pattern.tags) == ("One gate for all", ("auth", "user-state"))
    assert {node.id for node in search(database, NodeQuery(tag="auth"))} == {"task-001", pattern.id}
    assert [edge.from_id for edge in load_graph(database).edges] == ["task-001"]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"version": 2}', b'{"nodes": [{"id": 1}]}', b"\xff"])
def test_what_is_no_graph_is_refused_with_a_reason(database: Database, data: bytes) -> None:
    with pytest.raises(FlowdError, match="knowledge graph"):
        import_graph(database, data, PROJECT, "x.json")


def test_mermaid_draws_nodes_by_kind_and_escapes_what_would_break_it(database: Database) -> None:
    keep(database)
    lines = as_mermaid(load_graph(database)).splitlines()
    assert lines[0] == "graph LR"
    assert lines[1] == '  n1["Task 3: #quot;Till#quot;"]'
    assert lines[2] == '  n2("pattern: Round at the end; use #96;Decimal#96; #lt;always#gt;")'
    assert lines[3].startswith('  n3{{"gotcha: A gotcha that')
    assert set(lines[5:]) == {
        "  n1 -->|discovered| n2",
        "  n1 -->|discovered| n3",
        "  n1 -->|blocks| n4",
    }


def test_dot_draws_the_same_graph(database: Database) -> None:
    keep(database)
    text = as_dot(load_graph(database))
    assert 'n1 [shape=box, label="Task 3: \\"Till\\""];' in text
    assert 'n1 -> n4 [label="blocks"];' in text
    assert text.startswith("digraph")
    assert text.endswith("}\n")


def test_one_projects_graph_has_only_its_nodes(database: Database) -> None:
    keep(database)
    assert load_graph(database, "/elsewhere") == ([], [])
