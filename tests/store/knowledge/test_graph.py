"""What is taken in together is what it would be one by one, however much there is."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flowd.model.session import Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.effects import forget, pin
from flowd.store.knowledge.findings import keep_insights
from flowd.store.knowledge.search import NodeQuery, search
from flowd.store.migrations import migrate

PROJECTS = ("/home/someone/shop", '/home/"quoted"\\back/müsli 🧺')
TEXTS = (
    "Retry 3 times",
    "retry 5 times!",
    "The till beeps",
    "Sort before you search",
    "Sort, before you search",
)

texts = st.sampled_from(TEXTS)
insights = st.builds(
    Insight, st.sampled_from(["learning", "decision", "context"]), texts, line=st.integers(0, 9)
)
states = st.builds(
    SessionState,
    session_id=st.sampled_from("abcdef"),
    project=st.sampled_from(PROJECTS),
    last_activity_at=st.floats(0, 1e9, allow_nan=False),
    insights=st.lists(insights, max_size=4).map(tuple),
    decisions=st.lists(texts, max_size=2).map(tuple),
)
batches = st.lists(st.lists(states, max_size=5, unique_by=lambda state: state.session_id), max_size=4)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "core.db"
    migrate(path)
    return path


def kept(path: Path, calls: list[list[SessionState]]) -> list[str]:
    """Return the rows of the graph after *calls* made twice, one node pinned and one forgotten between."""
    database = Database(path, durable=False)
    for call in calls:
        keep_insights(database, *call)
    for change, word in ((pin, "retry"), (forget, "beeps")):
        for node in search(database, NodeQuery(words=word, most=1)):
            change(database, node)
    for call in calls:
        keep_insights(database, *call)
    with database.reading() as connection:
        rows = [repr(row) for row in connection.execute("select * from flow_nodes order by number")]
        rows += sorted(repr(row) for row in connection.execute("select * from flow_mentions"))
        connection.execute("insert into flow_nodes_fts (flow_nodes_fts, rank) values ('integrity-check', 1)")
    database.close()
    return rows


@given(batches)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sessions_taken_in_together_say_what_they_say_one_by_one(
    template: Path, tmp_path: Path, calls: list[list[SessionState]]
) -> None:
    together, alone = (Path(shutil.copy(template, tmp_path / name)) for name in ("together.db", "alone.db"))
    assert kept(together, calls) == kept(alone, [[state] for call in calls for state in call])
    for file in tmp_path.glob("*.db*"):
        file.unlink()
