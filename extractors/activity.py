"""Where and when a session works: directory, branch, client, times, files it edited."""

from collections.abc import Iterable
from typing import Any

import msgspec

from flowd.extractors.protocol import Note, Place
from flowd.extractors.records import Record
from flowd.extractors.times import seconds

NAME = "activity"
FILES_KEPT = 40
EDITING_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


class Memory(msgspec.Struct):
    """The latest of each, and the files edited, oldest edit first."""

    first_cwd: str = ""
    cwd: str = ""
    branch: str = ""
    client: str = ""
    started: str = ""
    last: str = ""
    records: int = 0
    files: dict[str, int] = {}


class EditedFile(msgspec.Struct):
    """The part of an editing tool's input that names the file."""

    file_path: str | None = None
    notebook_path: str | None = None


_edited_file = msgspec.json.Decoder(EditedFile)


def feed(memory: Memory, record: Record, line: int) -> Iterable[Note]:
    """Note nothing; remember the record's place, time and edits."""
    memory.records += 1
    timestamp = record.timestamp
    if timestamp and timestamp > memory.last:
        memory.started = memory.started or timestamp
        memory.last = timestamp
    cwd = record.cwd
    if cwd and not record.is_sidechain:
        if cwd != memory.cwd:
            memory.first_cwd = memory.first_cwd or cwd
            memory.cwd = cwd
        if record.git_branch and record.git_branch != memory.branch:
            memory.branch = record.git_branch
        if record.version and record.version != memory.client:
            memory.client = record.version
    if record.type == "assistant":
        _remember_edits(memory, record, line)
    return ()


def settle(memory: Memory) -> None:
    """Paths and times are kept as they come."""


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return times, place and the files edited, latest first, relative to the project."""
    return {
        "cwd": memory.cwd,
        "branch": memory.branch,
        "client": memory.client,
        "started_at": seconds(memory.started),
        "last_activity_at": seconds(memory.last),
        "records": memory.records,
        "files": tuple(relative(path, place.root) for path in reversed(memory.files)),
    }


def relative(path: str, root: str) -> str:
    """Return *path* relative to *root* when it lies below it, else as it is."""
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else path


def _remember_edits(memory: Memory, record: Record, line: int) -> None:
    content = record.message.content if record.message else None
    if not isinstance(content, list):
        return
    for block in content:
        if block.name in EDITING_TOOLS and bytes(block.input):
            path = _edited_path(block.input)
            if path:
                memory.files.pop(path, None)  # the latest edit stands last
                memory.files[path] = line
                if len(memory.files) > FILES_KEPT:
                    del memory.files[next(iter(memory.files))]


def _edited_path(tool_input: msgspec.Raw) -> str:
    try:
        edited = _edited_file.decode(tool_input)
    except msgspec.MsgspecError:
        return ""
    return edited.file_path or edited.notebook_path or ""
