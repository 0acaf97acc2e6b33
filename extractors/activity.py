"""Where and when a session works: directory, branch, client, times."""

from collections.abc import Iterable
from typing import Any

import msgspec

from flowd.extractors.protocol import Note, Place
from flowd.extractors.records import Record
from flowd.extractors.times import seconds

NAME = "activity"


class Memory(msgspec.Struct):
    """The latest of each."""

    first_cwd: str = ""
    cwd: str = ""
    branch: str = ""
    client: str = ""
    started: str = ""
    last: str = ""
    records: int = 0
    touched_at: float = 0.0


def feed(memory: Memory, record: Record, line: int) -> Iterable[Note]:
    """Note nothing; remember the record's place and time."""
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
    return ()


def settle(memory: Memory) -> None:
    """Paths and times are kept as they come."""


def describe(memory: Memory, place: Place) -> dict[str, Any]:
    """Return times and place."""
    return {
        "cwd": memory.cwd,
        "branch": memory.branch,
        "client": memory.client,
        "started_at": seconds(memory.started),
        "last_activity_at": seconds(memory.last),
        "records": memory.records,
        "touched_at": memory.touched_at,
    }
