"""Searching, pinning and forgetting, with insights of sessions beside blocks."""

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowd.handoff.block.find import blocks_in_markdown
from flowd.model.session import Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.context import context_from
from flowd.store.knowledge.effects import forget, pin
from flowd.store.knowledge.findings import keep_insights
from flowd.store.knowledge.graph import Node, Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.store.knowledge.search import NodeQuery, find_nodes, search, tasks_of

PROJECT = "/home/someone/shop"
TEXT = """\
# Task 1: Sign in

## Handoff

outcome: completed
patterns_discovered:
  - id: pattern-001
    pattern: Authentication goes through one gate
    location: src/gate.py
    applies_to: [auth]
  - pattern: Images are resized by the proxy
    applies_to: [images]
gotchas:
  - issue: The login page is cached
    mitigation: Vary on the cookie
    severity: high
"""


@pytest.fixture
def database(database: Database) -> Database:
    """A core.db that knows one block."""
    keep(database)
    return database


def keep(database: Database, text: str = TEXT, at: float = 100.0) -> None:
    (found,) = blocks_in_markdown(text)
    keep_block(database, found, Provenance(project=PROJECT, session_id="s", file="tasks/task-1.md", at=at))


def session(*insights: Insight, decisions: tuple[str, ...] = (), at: float = 200.0) -> SessionState:
    return SessionState(
        session_id="talk", project=PROJECT, insights=insights, decisions=decisions, last_activity_at=at
    )


def summaries(database: Database, **query: Any) -> list[str]:
    return [node.summary for node in search(database, NodeQuery(**query))]


def only(database: Database, node_id: str) -> Node:
    (node,) = find_nodes(database, node_id)
    return node


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"words": "auth", "type": "pattern"}, ["Authentication goes through one gate"]),
        ({"words": "RESIZED images"}, ["Images are resized by the proxy"]),
        ({"words": "cookie"}, ["The login page is cached"]),
        ({"words": "gate.py"}, ["Authentication goes through one gate"]),
        ({"tag": "images", "type": "pattern"}, ["Images are resized by the proxy"]),
        ({"severity": "high"}, ["The login page is cached"]),
        ({"type": "task"}, ["Task 1: Sign in"]),
        ({"words": "auth", "project": "/elsewhere"}, []),
        ({"words": "gate nonsense"}, ["Authentication goes through one gate"]),
        ({"words": "nonsense"}, []),
        ({"words": '"*(' + "'", "type": "gotcha"}, ["The login page is cached"]),
    ],
)
def test_search_finds_by_words_and_by_kind(
    database: Database, query: dict[str, str], found: list[str]
) -> None:
    assert summaries(database, **query) == found


@given(st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_words_make_search_raise(database: Database, words: str) -> None:
    search(database, NodeQuery(words=words))


def test_insights_and_decisions_of_sessions_enter_with_their_place(database: Database) -> None:
    keep_insights(
        database,
        session(
            Insight("learning", "The proxy strips cookies", record="r9", line=12),
            Insight("decision", "Serve images from the proxy"),
            decisions=("Serve images from the proxy", "Drop the old gate"),
        ),
    )
    assert summaries(database, words="strips", type="insight") == ["The proxy strips cookies"]
    assert set(summaries(database, type="decision")) == {"Serve images from the proxy", "Drop the old gate"}


def test_an_insight_said_again_changes_nothing(database: Database) -> None:
    state = session(Insight("learning", "The proxy strips cookies"))
    keep_insights(database, state)
    (node,) = search(database, NodeQuery(words="strips"))
    keep_insights(database, session(*state.insights, at=900.0))
    assert search(database, NodeQuery(words="strips")) == [node]


def test_a_block_outweighs_an_insight_on_the_same_words(database: Database) -> None:
    keep_insights(database, session(Insight("learning", "Authentication goes through one gate, mostly")))
    assert summaries(database, words="authentication gate") == [
        "Authentication goes through one gate",
        "Authentication goes through one gate, mostly",
    ]


def test_a_pinned_node_comes_first_and_outlives_its_block(database: Database) -> None:
    (images,) = search(database, NodeQuery(words="images", type="pattern"))
    pin(database, images)
    assert summaries(database, type="pattern")[0] == images.summary
    keep(database, "# Task 1: Sign in\n## Handoff\noutcome: completed\n", at=200.0)
    assert summaries(database, words="images") == [images.summary]
    pin(database, only(database, images.id), pinned=False)
    assert not only(database, images.id).pinned


def test_a_forgotten_node_is_gone_from_its_block_too_and_does_not_come_back(database: Database) -> None:
    gate = only(database, "pattern-001")
    forget(database, gate)
    context = context_from(database, PROJECT, "1")
    assert context is not None
    assert [pattern.pattern for pattern in context.block.patterns_discovered] == [
        "Images are resized by the proxy"
    ]
    keep(database, TEXT.replace("src/gate.py", "src/gates.py"), at=300.0)
    keep_insights(database, session(Insight("learning", "unrelated")))
    assert summaries(database, words="authentication") == []
    with database.reading() as connection:
        assert not [line for line in connection.iterdump() if "through one gate" in line]


def test_a_forgotten_insight_stays_forgotten_when_another_session_says_it(database: Database) -> None:
    keep_insights(database, session(Insight("learning", "The proxy strips cookies")))
    (node,) = search(database, NodeQuery(words="strips"))
    forget(database, node)
    again = msgspec.structs.replace(session(Insight("learning", "the proxy strips cookies!")), session_id="b")
    keep_insights(database, again)
    assert summaries(database, words="strips") == []


def test_a_node_is_found_by_the_id_its_author_gave_it(database: Database) -> None:
    node = only(database, "pattern-001")
    assert node.id != "pattern-001"
    assert find_nodes(database, node.id) == [node]
    assert find_nodes(database, node.id, "/elsewhere") == []


OPEN = """\
# Task 2: Sign out

## Handoff

outcome: blocked
open_questions:
  - question: Should tokens rotate?
    context: Sessions are long
    recommendation: Rotate them daily
suggested_next_steps:
  - step: Paint the logout button
    priority: high
blockers:
  - blocker: The vault credentials are missing
    impact: No deployment
    suggested_resolution: Ask operations
    blocking_tasks: [task-3]
"""


def test_questions_steps_and_blockers_are_found(database: Database) -> None:
    """Each as a node of its kind, discovered by its task."""
    keep(database, OPEN)
    for words, kind, summary in (
        ("rotate", "question", "Should tokens rotate?"),
        ("daily", "question", "Should tokens rotate?"),
        ("logout button", "step", "Paint the logout button"),
        ("vault", "blocker", "The vault credentials are missing"),
        ("operations", "blocker", "The vault credentials are missing"),
    ):
        (node,) = [node for node in search(database, NodeQuery(words)) if node.type != "task"]
        assert (node.type, node.summary) == (kind, summary)
        assert tasks_of(database, [node]) == {(PROJECT, node.id): ["Task 2: Sign out"]}


def test_what_a_task_no_longer_leaves_open_is_no_longer_found(database: Database) -> None:
    keep(database, OPEN)
    keep(database, "# Task 2: Sign out\n\n## Handoff\n\noutcome: completed\n", at=200.0)
    assert summaries(database, words="rotate") == summaries(database, words="vault") == []


def test_an_id_that_its_author_gave_is_shown(database: Database) -> None:
    (block,) = [context_from(database, PROJECT, "1")]
    assert block is not None
    assert block.block.patterns_discovered[0].id == "pattern-001"
