"""The block extractor: structured handoff blocks in replies and in documents that the assistant writes."""

from collections.abc import Iterator
from typing import Any

import msgspec

from flowd.extractors.conversation.prompts import human_words
from flowd.extractors.transcript.protocol import Note, Noted, ProjectPlace, Records
from flowd.extractors.transcript.records import Record, RecordBlock
from flowd.handoff.block.find import blocks_in_markdown, may_hold_block
from flowd.model.block import FoundBlock, HandoffBlock, digest
from flowd.model.facts import BlockFound, Fact
from flowd.redaction.data import Redact, redact_data
from flowd.redaction.redactor import redact

NAME = "blocks"
# Blocks count in documents only: in source code they are fixtures or examples.
DOCUMENTS = (".md", ".markdown", ".mdx", ".txt", ".yaml", ".yml")
MAX_ITEMS = 10
WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit"})
SYNTHETIC = "<synthetic>"
_STATUS = {"completed": "completed", "partial": "in_progress", "failed": "blocked", "blocked": "blocked"}
_PRIORITIES = ("high", "medium", "low")
_encode = msgspec.json.Encoder().encode


class BlockMemory(msgspec.Struct):
    """The last valid block of the session, and whether a prompt followed it."""

    block: HandoffBlock | None = None
    prompted_since: bool = False


MEMORY = BlockMemory


class _Edit(msgspec.Struct):
    new_string: str = ""


class _Written(msgspec.Struct):
    file_path: str = ""
    content: str = ""
    new_string: str = ""
    edits: list[_Edit] = []


_written = msgspec.json.Decoder(_Written)


def feed(memory: BlockMemory, records: Records, noted: Noted) -> None:
    """Add a note for each block of an assistant record; remember the last valid one outside subagents."""
    for record, line in records:
        if record.type == "assistant":
            message = record.message
            texts = _texts(message.content) if message and message.model != SYNTHETIC else ()
            if texts:
                noted.extend((line, note) for note in _found(memory, texts, record, line))
        elif record.type == "user" and memory.block is not None and not memory.prompted_since:
            memory.prompted_since = bool(human_words(record))


def _found(memory: BlockMemory, texts: list[tuple[str, str]], record: Record, line: int) -> list[Note]:
    notes: list[Note] = []
    for text, path in texts:
        for found in found_in(text, path):
            key = f"block:{record.uuid or line}:{len(notes)}"
            body = BlockFound(found=found, file=path, record=record.uuid or "")
            notes.append(Note(key, record.timestamp or "", body))
            block = found.block or found.usable
            if block is not None and not record.is_sidechain:
                memory.block, memory.prompted_since = block, False
    return notes


def finalize(memory: BlockMemory) -> None:
    """Do nothing: blocks are redacted when they are found."""


def describe(memory: BlockMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the fields that the last block sets; they override those derived from the conversation."""
    block = memory.block
    if block is None:
        return {}
    lists = {
        "next": [step.step for step in sorted(block.suggested_next_steps, key=_rank)],
        "questions": [question.question for question in block.open_questions],
        "learnings": [
            *(pattern.pattern for pattern in block.patterns_discovered),
            *(f"{gotcha.issue}: {gotcha.mitigation}".removesuffix(": ") for gotcha in block.gotchas),
        ],
    }
    fields: dict[str, Any] = {name: tuple(items[:MAX_ITEMS]) for name, items in lists.items() if items}
    if steps := fields.get("next"):
        fields["block_steps"] = steps
    fields["outcome"] = block.outcome
    fields["blockers"] = tuple(blocker.blocker for blocker in block.blockers)[:MAX_ITEMS]
    # A later prompt reopens the work, whatever the outcome of the block.
    return fields if memory.prompted_since else fields | {"status": _STATUS[block.outcome]}


def found_in(text: str, path: str = "", redact: Redact = redact) -> list[FoundBlock]:
    """Return the redacted blocks of *text*; *path* names the document that holds it, if any."""
    if not may_hold_block(text):
        return []
    return [redacted(found, redact) for found in blocks_in_markdown(text, path)]


def task_file_facts(
    text: str, path: str, project: str, modified_at: float, redact: Redact = redact
) -> list[Fact]:
    """Return a fact for each block of a task file of *project*, dated *modified_at*."""
    return [
        Fact(
            key=f"block-file:{path}:{modified_at}:{found.ordinal}:{found.digest}",
            session_id="",
            project=project,
            at=modified_at,
            body=BlockFound(found=found, file=path),
        )
        for found in found_in(text, path, redact)
    ]


def _rank(step: Any) -> int:
    return _PRIORITIES.index(step.priority)


def _texts(content: str | list[RecordBlock] | None) -> list[tuple[str, str]]:
    """Return each text that may hold a block, with the path of the document it is written to."""
    if isinstance(content, str):
        return [(content, "")]
    texts: list[tuple[str, str]] = []
    for block in content or ():
        # Hot path: runs for every record, and hardly any holds a block.
        if block.type == "text":
            if block.text and ":" in block.text and "outcome:" in block.text:
                texts.append((block.text, ""))
        elif block.name in WRITING_TOOLS and b"outcome:" in (raw := bytes(block.input)):
            texts.extend(_documents(raw))
    return texts


def _documents(raw: bytes) -> Iterator[tuple[str, str]]:
    try:
        written = _written.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    if written.file_path.casefold().endswith(DOCUMENTS):
        for text in (written.content, written.new_string, *(edit.new_string for edit in written.edits)):
            yield text, written.file_path


def redacted(found: FoundBlock, redact: Redact = redact) -> FoundBlock:
    """Return *found* with secrets masked."""
    plain = msgspec.json.decode(_encode(found))  # with lists where to_builtins leaves tuples
    clean = msgspec.convert(redact_data(plain, redact), FoundBlock)
    content = clean.text or _encode(clean.block).decode()
    return msgspec.structs.replace(clean, digest=digest(content))
