"""The turning points of a session: compactions, titles, pull requests, recaps."""

from collections.abc import Iterable
from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Note, Noted, ProjectPlace, Records
from flowd.extractors.transcript.records import Record
from flowd.model.facts import AwaySummarised, Compacted, PullRequestLinked, Titled
from flowd.redaction.redactor import redact
from flowd.system.times import seconds

NAME = "lifecycle"
TURNING = frozenset({"system", "ai-title", "custom-title", "pr-link"})


class Memory(msgspec.Struct):
    """How often the session was compacted, when last, and what it is called."""

    compactions: int = 0
    compacted: str = ""
    title: str = ""
    title_is_persons: bool = False
    last: str = ""
    ended_at: float = 0.0


def feed(memory: Memory, records: Records, noted: Noted) -> None:
    """Note the turning points; pass everything else over."""
    last = memory.last
    for record, line in records:
        last = record.timestamp or last
        if record.type in TURNING or record.is_compact_summary:
            memory.last = last
            noted.extend((line, note) for note in _turn(memory, record, line))
    memory.last = last


def settle(memory: Memory) -> None:
    """Nothing is put off while feeding."""


def describe(memory: Memory, place: ProjectPlace) -> dict[str, Any]:
    """Return title and compactions."""
    return {
        "title": memory.title,
        "compactions": memory.compactions,
        "compacted_at": seconds(memory.compacted),
        "ended_at": memory.ended_at,
    }


def _turn(memory: Memory, record: Record, line: int) -> Iterable[Note]:
    if record.type == "system":
        return _system(memory, record, line)
    if record.type in ("ai-title", "custom-title"):
        return _title(memory, record)
    if record.type == "pr-link" and record.pr_url:
        return _pull_request(memory, record)
    if record.is_compact_summary and memory.compacted == "":
        # Clients before 2.0 wrote the summary alone, with no boundary before it.
        return _compaction(memory, record, line)
    return ()


def _system(memory: Memory, record: Record, line: int) -> Iterable[Note]:
    if record.subtype == "compact_boundary":
        return _compaction(memory, record, line)
    if record.subtype == "away_summary" and record.content:
        return (
            Note(
                f"away:{record.uuid or line}", _time(memory, record), AwaySummarised(redact(record.content))
            ),
        )
    return ()


def _compaction(memory: Memory, record: Record, line: int) -> Iterable[Note]:
    if record.is_sidechain:  # a subagent's own compaction leaves the session's conversation whole
        return ()
    memory.compactions += 1
    memory.compacted = _time(memory, record)
    about = record.compact_metadata
    body = Compacted(
        trigger=(about.trigger if about else None) or "unknown",
        tokens_before=(about.pre_tokens if about else None) or 0,
    )
    return (Note(f"compacted:{record.uuid or line}", memory.compacted, body),)


def _title(memory: Memory, record: Record) -> Iterable[Note]:
    title = record.custom_title or record.ai_title or ""
    title = title if title == memory.title else redact(title)
    if not title or title == memory.title or (memory.title_is_persons and not record.custom_title):
        return ()
    memory.title = title
    memory.title_is_persons = bool(record.custom_title)
    return (Note(f"titled:{title}", _time(memory, record), Titled(title)),)


def _pull_request(memory: Memory, record: Record) -> Iterable[Note]:
    url = record.pr_url or ""
    body = PullRequestLinked(record.pr_number or 0, url, record.pr_repository or "")
    return (Note(f"pull-request:{url}", _time(memory, record), body),)


def _time(memory: Memory, record: Record) -> str:
    return record.timestamp or memory.last
