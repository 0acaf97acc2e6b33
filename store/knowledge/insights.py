"""Insights and decisions that extraction found in sessions, as the lighter part of the graph."""

import sqlite3
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from flowd.model.block import stable_id
from flowd.model.session import Insight, SessionState
from flowd.store.database import Database
from flowd.store.knowledge.graph import EXTRACTION_WEIGHT, Mention, NodeType, Provenance
from flowd.store.knowledge.nodes import add_mentions

_TYPES: dict[str, NodeType] = {"decision": "decision", "learning": "insight", "context": "insight"}
_SAID = """
select source, project, type, summary, node from flow_mentions
where source in (select value from json_each(?))
"""

# A session that goes on from another one repeats what was said there.
_node_id = lru_cache(maxsize=512)(stable_id)


class _Speaker(NamedTuple):
    source: str
    project: str


class _Finding(NamedTuple):
    type: NodeType
    text: str


_Known = dict[_Finding, str]


def keep_insights(database: Database, *states: SessionState) -> None:
    """Take what *states*, one a session, learned and decided into the graph: all of it or nothing.

    Saying it again changes nothing.
    """
    with database.reading() as connection:
        known = _known(connection, map(_speaker, states))
    fresh = [mention for state in states for mention in _fresh(state, known[_speaker(state)])]
    if fresh:
        with database.transaction() as connection:
            add_mentions(connection, fresh)


def findings_digest(state: SessionState) -> int:
    """Return what stays the same, within this process, while *state* has nothing else for the graph."""
    return hash((state.project, state.insights, state.decisions))


def _known(connection: sqlite3.Connection, speakers: Iterable[_Speaker]) -> dict[_Speaker, _Known]:
    """Return, for each of *speakers*, the nodes of what it has said."""
    known: dict[_Speaker, _Known] = {speaker: {} for speaker in speakers}
    sources = msgspec.json.encode([speaker.source for speaker in known]).decode()
    for source, project, kind, text, node in connection.execute(_SAID, (sources,)):
        if (speaker := _Speaker(source, project)) in known:
            known[speaker][_Finding(kind, text)] = node
    return known


def _fresh(state: SessionState, known: _Known) -> list[Mention]:
    """Return what *state* says that its session has not said before in these words."""
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
    for insight in state.insights:
        yield _Finding(_TYPES[insight.category], insight.insight), insight
    said = {insight.insight for insight in state.insights}
    for decision in state.decisions:
        if decision not in said:
            yield _Finding("decision", decision), None


def _speaker(state: SessionState) -> _Speaker:
    return _Speaker(f"session:{state.session_id}", state.project)


def _mention(state: SessionState, node: str, finding: _Finding, insight: Insight | None) -> Mention:
    place = Provenance(
        project=state.project,
        session_id=state.session_id,
        record=insight.record if insight else "",
        line=insight.line if insight else 0,
        at=state.last_activity_at,
    )
    return Mention(
        source=_speaker(state).source,
        node=node,
        type=finding.type,
        summary=finding.text,
        provenance=place,
        weight=EXTRACTION_WEIGHT,
    )
