"""Write the insights and decisions of sessions into the knowledge graph."""

import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from flowd.model.block import stable_id
from flowd.model.session import ASKED, Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.graph import EXTRACTION_WEIGHT, Mention, NodeType, Provenance, add_mentions

_TYPES: dict[str, NodeType] = {"decision": "decision", "learning": "insight", "context": "insight"}
_MENTIONED = """
select source, project, type, summary, node from flow_mentions
where source in (select value from json_each(?))
"""
# A resumed session repeats the findings of the one before.
_node_id = lru_cache(maxsize=512)(stable_id)


class _Source(NamedTuple):
    name: str
    project: str


class _Finding(NamedTuple):
    type: NodeType
    text: str


_Known = dict[_Finding, str]


def keep_insights(database: Database, *states: SessionState) -> None:
    """Add the insights and decisions of *states*, one per session, in one transaction; idempotent."""
    with database.reading() as connection:
        known = _known(connection, map(_source, states))
    new = [mention for state in states for mention in _new_mentions(state, known[_source(state)])]
    if new:
        with database.transaction() as connection:
            add_mentions(connection, new)


def findings_digest(state: SessionState) -> int:
    """Return a hash of what *state* adds to the graph; valid within this process."""
    return hash((state.project, state.insights, state.decisions))


def _known(connection: sqlite3.Connection, sources: Iterable[_Source]) -> dict[_Source, _Known]:
    """Return the stored findings of each of *sources*, with their nodes."""
    known: dict[_Source, _Known] = {source: {} for source in sources}
    names = msgspec.json.encode([source.name for source in known]).decode()
    for name, project, kind, text, node in connection.execute(_MENTIONED, (names,)):
        if (source := _Source(name, project)) in known:
            known[source][_Finding(kind, text)] = node
    return known


def _new_mentions(state: SessionState, known: _Known) -> list[Mention]:
    """Return the mentions of *state* that are not stored yet with the same text."""
    texts = {node: finding.text for finding, node in known.items()}
    found = {
        known.get(finding) or _node_id(*finding): (finding, insight) for finding, insight in _findings(state)
    }
    return [
        _mention(state, node, finding, insight)
        for node, (finding, insight) in found.items()
        if texts.get(node) != finding.text
    ]


def _findings(state: SessionState) -> Iterator[tuple[_Finding, Insight | None]]:
    """Yield what the session found out; what it was asked for is no finding."""
    for insight in (one for one in state.insights if not one.insight.startswith(ASKED)):
        yield _Finding(_TYPES[insight.category], insight.insight), insight
    insights = {insight.insight for insight in state.insights}
    for decision in state.decisions:
        if decision not in insights and not decision.startswith(ASKED):
            yield _Finding("decision", decision), None


def _source(state: SessionState) -> _Source:
    return _Source(f"session:{state.session_id}", state.project)


def _mention(state: SessionState, node: str, finding: _Finding, insight: Insight | None) -> Mention:
    origin = Provenance(
        project=state.project,
        session_id=state.session_id,
        record=insight.record if insight else "",
        line=insight.line if insight else 0,
        at=state.last_activity_at,
    )
    return Mention(
        source=_source(state).name,
        node=node,
        type=finding.type,
        summary=finding.text,
        provenance=origin,
        weight=EXTRACTION_WEIGHT,
    )
