"""Blocks in transcripts: found in text and in written documents, and what they do to a session's state."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.extractors.fields import blocks
from flowd.extractors.transcript.protocol import Note, Noted, ProjectPlace
from flowd.extractors.transcript.records import Record
from flowd.extractors.transcript.session import SessionMemory
from flowd.model.facts import BlockFound

HANDOFF = """\
## Handoff

```yaml
outcome: blocked
patterns_discovered:
  - pattern: Close what you open
gotchas:
  - issue: Ports leak
    mitigation: Use port 0
suggested_next_steps:
  - step: Tidy up
    priority: low
  - step: Find the leak
    priority: high
open_questions:
  - question: Whose socket is it?
blockers:
  - blocker: No root on the test machine
    blocking_tasks: [task-2]
```
"""
COMPLETED = "## Handoff\n\noutcome: completed\n"


def record(kind: str, content: Any, **more: Any) -> Record:
    raw = {
        "type": kind,
        "uuid": "u1",
        "timestamp": "2026-01-02T03:04:05Z",
        "message": {"role": kind, "content": content},
        **more,
    }
    return msgspec.json.decode(msgspec.json.encode(raw), type=Record)


def said(text: str, **more: Any) -> Record:
    return record("assistant", [{"type": "text", "text": text}], **more)


def called(name: str, **given: Any) -> Record:
    return record("assistant", [{"type": "tool_use", "id": "t", "name": name, "input": given}])


def found(note: Note) -> BlockFound:
    assert isinstance(note.body, BlockFound)
    return note.body


def feed(*records: Record) -> tuple[blocks.BlockMemory, list[Note]]:
    memory = blocks.BlockMemory()
    return memory, feed_on(memory, *records)


def feed_on(memory: blocks.BlockMemory, *records: Record) -> list[Note]:
    noted: Noted = []
    blocks.feed(memory, ((each, line) for line, each in enumerate(records, 1)), noted)
    return [note for _, note in noted]


def test_a_block_in_the_assistants_words_is_noted_under_its_record() -> None:
    _, (note,) = feed(said(f"Done.\n\n{HANDOFF}"))
    assert (note.key, note.timestamp) == ("block:u1:0", "2026-01-02T03:04:05Z")
    body = found(note)
    assert (body.file, body.record, body.found.line) == ("", "u1", 6)
    assert body.found.block is not None


@pytest.mark.parametrize(
    "record",
    [
        called("Write", file_path="/p/tasks/task-003-leak.md", content=HANDOFF),
        called("Edit", file_path="/p/tasks/task-003-leak.md", old_string="x", new_string=HANDOFF),
        called("MultiEdit", file_path="/p/tasks/task-003-leak.md", edits=[{"new_string": HANDOFF}]),
    ],
)
def test_a_block_in_a_written_document_is_noted_with_file_and_task(record: Record) -> None:
    _, (note,) = feed(record)
    body = found(note)
    assert (body.file, body.found.task.id, body.found.task.name) == (
        "/p/tasks/task-003-leak.md",
        "003",
        "leak",
    )


@pytest.mark.parametrize(
    "record",
    [
        called("Write", file_path="/p/tests/test_blocks.py", content=HANDOFF),
        called("Bash", command=HANDOFF),
        called("Write", file_path=7, content=HANDOFF),
        record("user", HANDOFF),
        said(HANDOFF, message={"role": "assistant", "model": "<synthetic>", "content": HANDOFF}),
        said(HANDOFF.replace("outcome: blocked", "outcome: [completed | partial]")),
        said("The outcome: a handoff without a block."),
        record("assistant", None),
    ],
)
def test_what_is_no_block_of_the_assistant_is_not_noted(record: Record) -> None:
    assert feed(record)[1] == []


def test_an_invalid_block_is_noted_and_changes_no_state() -> None:
    memory, (note,) = feed(said(COMPLETED.replace("completed", "done")))
    assert found(note).found.violations
    assert blocks.describe(memory, ProjectPlace()) == {}


def test_a_blocks_fields_are_those_of_the_session() -> None:
    memory, _ = feed(said(HANDOFF))
    assert blocks.describe(memory, ProjectPlace()) == {
        "status": "blocked",
        "outcome": "blocked",
        "next": ("Find the leak", "Tidy up"),
        "block_steps": ("Find the leak", "Tidy up"),
        "questions": ("Whose socket is it?",),
        "learnings": ("Close what you open", "Ports leak: Use port 0"),
        "blockers": ("No root on the test machine",),
    }


def test_a_block_leaves_what_it_does_not_speak_of_to_extraction() -> None:
    memory, _ = feed(said(COMPLETED))
    assert blocks.describe(memory, ProjectPlace()) == {
        "status": "completed",
        "outcome": "completed",
        "blockers": (),
    }


def test_a_person_who_asks_for_more_reopens_the_work() -> None:
    memory, _ = feed(said(COMPLETED), record("user", "Now the other half, please."))
    assert "status" not in blocks.describe(memory, ProjectPlace())
    feed_on(memory, said(COMPLETED))
    assert blocks.describe(memory, ProjectPlace())["status"] == "completed"


def test_a_subagents_block_is_noted_but_is_not_the_sessions_outcome() -> None:
    memory, notes = feed(said(COMPLETED, isSidechain=True))
    assert len(notes) == 1
    assert blocks.describe(memory, ProjectPlace()) == {}


def test_a_blocks_word_outranks_extraction_in_the_state() -> None:
    memory = SessionMemory()
    memory.feed(record("user", "Fix the leak in the socket pool"), 1)
    memory.feed(said(f"Next steps:\n1. Something else entirely\n\n{HANDOFF}"), 2)
    restored = SessionMemory.restored(memory.saved())
    state = restored.state("s", ProjectPlace())
    assert (state.status, state.outcome) == ("blocked", "blocked")
    assert (state.next, state.blockers) == (("Find the leak", "Tidy up"), ("No root on the test machine",))


def test_secrets_are_gone_before_a_block_is_noted_or_remembered() -> None:
    secret = "sk-ant-api03-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY" * 2
    valid = f"## Handoff\noutcome: completed\ngotchas:\n  - issue: The key {secret} is in the log\n"
    memory, notes = feed(said(valid), said(valid.replace("issue", "isue")))
    assert len(notes) == 2
    assert secret not in str(notes)
    assert secret not in str(blocks.describe(memory, ProjectPlace()))


def test_a_task_file_gives_a_fact_for_each_block_of_each_version() -> None:
    path = "/p/tasks/task-003-leak.md"
    first, second = blocks.task_file_facts(HANDOFF + COMPLETED, path, "/p", 10.0)
    assert (first.project, first.session_id, first.at) == ("/p", "", 10.0)
    assert isinstance(second.body, BlockFound)
    assert (second.body.file, second.body.found.ordinal) == (path, 1)
    later = blocks.task_file_facts(HANDOFF, path, "/p", 11.0)
    assert len({first.key, second.key, later[0].key}) == 3


@given(st.text(max_size=200))
def test_no_text_makes_the_extractor_raise(text: str) -> None:
    feed(said(f"{HANDOFF}{text}"), called("Write", file_path="a.md", content=f"{COMPLETED}{text}"))
