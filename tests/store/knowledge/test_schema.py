"""The full-text index follows the words of the nodes, and only them, in a core.db of any age."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.model.session import Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.effects import forget, pin
from flowd.store.knowledge.findings import keep_insights
from flowd.store.knowledge.search import NodeQuery, search
from flowd.store.migrations import migrate
from flowd.store.schema import MIGRATION_NAMES
from tests.support.released_schemas import make_released


@pytest.fixture(params=[*MIGRATION_NAMES, ""])
def database(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Database]:
    """A core.db that began with each released schema, and one that is new."""
    path = tmp_path / "core.db"
    if request.param:
        make_released(request.param, path)
    migrate(path)
    database = Database(path)
    yield database
    database.close()


def say(database: Database, text: str, session_id: str, at: float) -> None:
    keep_insights(
        database,
        SessionState(
            session_id=session_id, project="/p", last_activity_at=at, insights=(Insight("learning", text),)
        ),
    )


def index(database: Database) -> list[tuple[int, bytes]]:
    with database.reading() as connection:
        connection.execute("insert into flow_nodes_fts (flow_nodes_fts, rank) values ('integrity-check', 1)")
        return connection.execute("select id, block from flow_nodes_fts_data order by id").fetchall()


def test_a_node_mentioned_again_or_pinned_is_not_indexed_anew(database: Database) -> None:
    say(database, "Beeps are loud", "a", 1.0)
    before = index(database)
    say(database, "Beeps are loud", "b", 2.0)
    (node,) = search(database, NodeQuery(words="loud"))
    pin(database, node)
    assert (node.mentions, node.seen_at) == (2, 2.0)
    assert index(database) == before


def test_a_node_is_found_by_its_newest_words_alone(database: Database) -> None:
    say(database, "Retry 3 times", "a", 1.0)
    say(database, "Retry 55 times", "b", 2.0)
    assert search(database, NodeQuery(words="3")) == []
    (node,) = search(database, NodeQuery(words="55"))
    forget(database, node)
    assert search(database, NodeQuery(words="retry")) == []
    index(database)
