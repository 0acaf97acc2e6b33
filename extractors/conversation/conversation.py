"""The conversation extractor: prompts, replies, tool calls and their results."""

from flowd.extractors.conversation import turns, work
from flowd.extractors.conversation.prompts import (
    human_words,
    is_client_text,
    is_flow_command,
    is_interruption,
    is_typed,
    message_text,
    notified_report,
    read_summary,
)
from flowd.extractors.text import cut, plain
from flowd.extractors.transcript.memory import ConversationMemory
from flowd.extractors.transcript.protocol import Noted, Records
from flowd.extractors.transcript.records import Record, RecordBlock
from flowd.redaction.redactor import redact

NAME = "conversation"
MEMORY = ConversationMemory
QUEUE = 5
READ_TYPES = frozenset({"system", "queue-operation", "ai-title", "custom-title"})
RECAP_NOTE = "(disable recaps"


def feed(memory: ConversationMemory, records: Records, noted: Noted) -> None:
    """Add prompts, replies and tool calls to *memory*; add no notes."""
    for record, line in records:
        kind = record.type
        if kind == "assistant":
            memory.clock += 1
            if not memory.is_aside or record.is_sidechain:
                _assistant(memory, record, line)
        elif kind == "user":
            memory.clock += 1
            if record.is_sidechain:
                work.returned_aside(memory, record)
            else:
                _user(memory, record, line)
        elif kind == "attachment":
            _prompted(memory, record, line)
        elif kind in READ_TYPES and not record.is_sidechain:
            _other(memory, record, line)


def finalize(memory: ConversationMemory) -> None:
    """Redact and shorten what feeding kept as written."""
    turns.finalize(memory)


def _assistant(memory: ConversationMemory, record: Record, line: int) -> None:
    message = record.message
    if message is None or message.model == "<synthetic>" or record.is_api_error_message:
        return
    content = message.content
    for block in [RecordBlock("text", text=content)] if isinstance(content, str) else content or ():
        if block.type == "text":
            if block.text and not block.text.isspace():
                turns.reply(memory, block.text, record, line)
        elif block.type == "tool_use":
            work.called(memory, block, record)


def _user(memory: ConversationMemory, record: Record, line: int) -> None:
    content = record.message.content if record.message else None
    if record.is_compact_summary:
        if isinstance(content, str):
            memory.summary = read_summary(content, memory.clock)
            turns.summarised(memory, record, line)
    elif isinstance(content, list) and content and content[0].type == "tool_result":
        for block in content:
            work.returned(memory, block, record, line)
    elif is_interruption(record):
        memory.turn.interrupted = True
    elif isinstance(content, str) and (report := notified_report(content)):
        turns.report(memory, report, record, line)
    else:
        if is_typed(record):
            memory.is_aside = is_flow_command(message_text(record).strip())
        _prompted(memory, record, line)


def _prompted(memory: ConversationMemory, record: Record, line: int) -> None:
    words = human_words(record)
    if words:
        turns.prompt(memory, words, record, line)


def _other(memory: ConversationMemory, record: Record, line: int) -> None:
    kind = record.type
    if kind == "system":
        if record.subtype == "away_summary" and record.content:
            text = redact(record.content).partition(RECAP_NOTE)[0]
            turns.recap(memory, plain(text), record, line)
        elif (
            record.subtype == "turn_duration" and memory.turn.reply and not (memory.calls or memory.is_aside)
        ):
            memory.turn.ended = True
    elif kind == "queue-operation":
        _queue(memory, record, line)
    elif kind in ("ai-title", "custom-title"):
        title = record.custom_title or record.ai_title
        if title and title != memory.title:  # clients repeat it all the time
            memory.title = cut(plain(redact(title)), 120)


def _queue(memory: ConversationMemory, record: Record, line: int) -> None:
    if record.content and is_client_text(record.content):
        return
    if record.operation == "enqueue" and record.content:
        memory.queued = [*memory.queued, cut(plain(redact(record.content)), 300)][-QUEUE:]
    elif record.operation == "popAll":
        memory.queued = []
    else:
        removed, memory.queued = memory.queued[:1], memory.queued[1:]
        if (
            record.operation == "remove" and removed
        ):  # delivered in the middle of a turn; some clients write no other record of it
            turns.prompt(memory, removed[0], record, line)
