"""Insights and decisions that extraction found in sessions, as the lighter part of the graph."""

from collections.abc import Iterator

from flowd.handoff.block_ids import stable_id
from flowd.store.database import Database
from flowd.store.facts import SessionState
from flowd.store.knowledge import EXTRACTION_WEIGHT, Mention, NodeType, Provenance
from flowd.store.knowledge_mentions import add_mentions

_TYPES: dict[str, NodeType] = {"decision": "decision", "learning": "insight", "context": "insight"}


def keep_insights(database: Database, state: SessionState) -> None:
    """Take what *state* learned and decided into the graph; saying it again changes nothing."""
    mentions = {mention.node: mention for mention in _mentions(state)}
    if not mentions:
        return
    with database.reading() as connection:
        said = dict(
            connection.execute(
                "select node, summary from flow_mentions where source = ? and project = ?",
                (_source(state.session_id), state.project),
            )
        )
    fresh = [mention for mention in mentions.values() if said.get(mention.node) != mention.summary]
    if fresh:
        with database.transaction() as connection:
            add_mentions(connection, fresh)


def _source(session_id: str) -> str:
    return f"session:{session_id}"


def _mentions(state: SessionState) -> Iterator[Mention]:
    for insight in state.insights:
        place = _place(state, record=insight.record, line=insight.line)
        yield _mention(_TYPES[insight.category], insight.insight, place)
    said = {insight.insight for insight in state.insights}
    for decision in state.decisions:
        if decision not in said:
            yield _mention("decision", decision, _place(state))


def _place(state: SessionState, record: str = "", line: int = 0) -> Provenance:
    return Provenance(
        project=state.project,
        session_id=state.session_id,
        record=record,
        line=line,
        at=state.last_activity_at,
    )


def _mention(kind: NodeType, text: str, place: Provenance) -> Mention:
    return Mention(
        source=_source(place.session_id),
        node=stable_id(kind, text),
        type=kind,
        summary=text,
        provenance=place,
        weight=EXTRACTION_WEIGHT,
    )
