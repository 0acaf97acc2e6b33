"""The lifecycle extractor: compactions, titles, pull requests, recaps, cost."""

from collections.abc import Iterable
from typing import Any

import msgspec

from flowd.extractors.fields.cost import read_cost
from flowd.extractors.transcript.protocol import Note, Noted, ProjectPlace, Records
from flowd.extractors.transcript.records import Record
from flowd.model.facts import AwaySummarised, Compacted, PullRequestLinked, Titled
from flowd.model.session import SessionCost
from flowd.redaction.redactor import redact
from flowd.system.times import seconds

NAME = "lifecycle"
EVENT_TYPES = frozenset({"system", "ai-title", "custom-title", "pr-link", "cost-state"})


class LifecycleMemory(msgspec.Struct):
    """The compactions so far, the title and who set it, the cost."""

    compactions: int = 0
    compacted: str = ""
    title: str = ""
    title_is_persons: bool = False
    last: str = ""
    ended_at: float = 0.0
    cost: SessionCost | None = None


MEMORY = LifecycleMemory


def feed(memory: LifecycleMemory, records: Records, noted: Noted) -> None:
    """Add a note for each lifecycle event; skip all other records."""
    last = memory.last
    for record, line in records:
        last = record.timestamp or last
        if record.type in EVENT_TYPES or record.is_compact_summary:
            memory.last = last
            noted.extend((line, note) for note in _notes(memory, record, line))
    memory.last = last


def finalize(memory: LifecycleMemory) -> None:
    """Do nothing: texts are redacted when they are fed."""


def describe(memory: LifecycleMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the title, the compactions, the end and the cost of the session."""
    return {
        "title": memory.title,
        "compactions": memory.compactions,
        "compacted_at": seconds(memory.compacted),
        "ended_at": memory.ended_at,
        "cost": memory.cost,
    }


def _notes(memory: LifecycleMemory, record: Record, line: int) -> Iterable[Note]:
    if record.type == "system":
        return _system(memory, record, line)
    if record.type in ("ai-title", "custom-title"):
        return _title(memory, record)
    if record.type == "pr-link" and record.pr_url:
        return _pull_request(memory, record)
    if record.type == "cost-state" and not record.is_sidechain:
        memory.cost = read_cost(record) or memory.cost
    elif record.is_compact_summary and memory.compacted == "":
        # Clients before 2.0 wrote the summary alone, with no boundary before it.
        return _compaction(memory, record, line)
    return ()


def _system(memory: LifecycleMemory, record: Record, line: int) -> Iterable[Note]:
    if record.subtype == "compact_boundary":
        return _compaction(memory, record, line)
    if record.subtype == "away_summary" and record.content:
        return (
            Note(
                f"away:{record.uuid or line}", _time(memory, record), AwaySummarised(redact(record.content))
            ),
        )
    return ()


def _compaction(memory: LifecycleMemory, record: Record, line: int) -> Iterable[Note]:
    if record.is_sidechain:  # a subagent's compaction does not shorten the session's conversation
        return ()
    memory.compactions += 1
    memory.compacted = _time(memory, record)
    about = record.compact_metadata
    body = Compacted(
        trigger=(about.trigger if about else None) or "unknown",
        tokens_before=(about.pre_tokens if about else None) or 0,
    )
    return (Note(f"compacted:{record.uuid or line}", memory.compacted, body),)


def _title(memory: LifecycleMemory, record: Record) -> Iterable[Note]:
    title = record.custom_title or record.ai_title or ""
    title = title if title == memory.title else redact(title)
    if not title or title == memory.title or (memory.title_is_persons and not record.custom_title):
        return ()
    memory.title = title
    memory.title_is_persons = bool(record.custom_title)
    return (Note(f"titled:{title}", _time(memory, record), Titled(title)),)


def _pull_request(memory: LifecycleMemory, record: Record) -> Iterable[Note]:
    url = record.pr_url or ""
    body = PullRequestLinked(record.pr_number or 0, url, record.pr_repository or "")
    return (Note(f"pull-request:{url}", _time(memory, record), body),)


def _time(memory: LifecycleMemory, record: Record) -> str:
    return record.timestamp or memory.last
