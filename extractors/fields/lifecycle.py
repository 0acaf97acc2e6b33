"""The lifecycle extractor: compactions, titles, pull requests, recaps, cost."""

from collections.abc import Iterable
from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Note, Noted, ProjectPlace, Records
from flowd.extractors.transcript.records import Record
from flowd.model.facts import AwaySummarised, Compacted, PullRequestLinked, Titled
from flowd.model.session import ModelUsage, SessionCost
from flowd.redaction.redactor import redact
from flowd.system.times import seconds

MAX_MODELS = 10
MAX_NAME_CHARACTERS = 80
NAME = "lifecycle"
EVENT_TYPES = frozenset({"system", "ai-title", "custom-title", "pr-link", "cost-state"})


class _Usage(msgspec.Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost_usd: float = msgspec.field(default=0.0, name="costUSD")


_usages = msgspec.json.Decoder(dict[str, _Usage])


def read_cost(record: Record) -> SessionCost | None:
    """Return the totals that a ``cost-state`` *record* holds; they go on over a resume of the session."""
    if record.total_cost_usd is None:
        return None
    return SessionCost(record.total_cost_usd, _models(record))


def _models(record: Record) -> tuple[ModelUsage, ...]:
    try:
        usages = _usages.decode(record.model_usage)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ()
    dearest = sorted(usages.items(), key=lambda item: -item[1].cost_usd)[:MAX_MODELS]
    return tuple(
        ModelUsage(
            name[:MAX_NAME_CHARACTERS],
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.cost_usd,
        )
        for name, usage in dearest
    )


class LifecycleMemory(msgspec.Struct):
    """The compactions so far, the title and who set it, the cost."""

    compactions: int = 0
    compacted: str = ""
    title: str = ""
    title_is_persons: bool = False
    last: str = ""
    ended_at: float = 0.0
    stopped_at: float = 0.0
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
        "stopped_at": memory.stopped_at,
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
