"""Nodes of the knowledge graph as lines for people."""

import time
from collections.abc import Iterator

import msgspec

from flowd.cli.tables import home_relative, paint, visible, wrapped
from flowd.store.knowledge import Node
from flowd.store.knowledge_context import MappedFile, TaskBlocker
from flowd.store.knowledge_search import Known, Told


class Work(msgspec.Struct, frozen=True):
    """What a task did and what stands in the way, its own and others'."""

    files: list[MappedFile] = []
    blockers: list[TaskBlocker] = []
    blocked_by: list[str] = []


def found_lines(nodes: list[Node], tasks: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """Yield each node's id and summary, and below it what it is and which tasks found it."""
    for node in nodes:
        mark = " *" if node.pinned else ""
        yield paint(f"{node.id}{mark}", "bold")
        yield from wrapped(node.summary, first="  ", rest="  ")
        if node.detail:
            yield from wrapped(node.detail, first="    ", rest="    ")
        about = [node.severity or node.status, " ".join(f"#{tag}" for tag in node.tags)]
        about += tasks.get((node.project, node.id), [])
        about += [f"{node.mentions} times" if node.mentions > 1 else "", home_relative(node.project)]
        yield paint("  " + visible(" · ".join(part for part in about if part)), "dim")


def known_lines(known: Known) -> Iterator[str]:
    """Yield all that is known of one node."""
    node = known.node
    yield paint(f"{node.id} ({node.type})", "bold")
    yield from wrapped(node.summary, first="  ", rest="  ")
    facts = {
        "handle": node.detail,
        "severity": node.severity,
        "status": node.status,
        "where": node.file,
        "tags": ", ".join(node.tags),
        "named": node.given_id,
        "project": home_relative(node.project),
        "pinned": "yes" if node.pinned else "",
    }
    for name, value in facts.items():
        if value:
            yield from _fact(name, value)
    for edge in known.edges:
        relation = (
            f"{edge.kind} {edge.to_id}" if edge.from_id == node.id else f"{edge.from_id} {edge.kind} it"
        )
        yield f"  {'edge':<9}{visible(relation)}"
    for told in known.told:
        yield from _fact("said", _told(told))


def work_lines(work: Work) -> Iterator[str]:
    """Yield a task's files and blockers."""
    for file in work.files:
        yield from _fact("file", f"{file.location}: {file.notes}".removesuffix(": "))
    for blocker in work.blockers:
        yield from _fact("blocker", f"{blocker.blocker} ({blocker.state})")
    for reason in work.blocked_by:
        yield from _fact("blocked", reason)


def _fact(name: str, value: str) -> list[str]:
    return wrapped(value, first=f"  {name:<9}", rest=" " * 11)


def _told(told: Told) -> str:
    place = told.provenance
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(place.at)) if place.at else "at an unknown time"
    line = f":{place.line}" if place.line else ""
    where = f"in {place.file}{line}" if place.file else f"in the conversation{line and ', line ' + line[1:]}"
    session = f" of session {place.session_id}" if place.session_id else ""
    return f"{day} {where}{session}"
