"""Where and when a session works: directory, branch, client, times."""

from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Noted, ProjectPlace, Records
from flowd.system.times import seconds

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


def feed(memory: Memory, records: Records, noted: Noted) -> None:
    """Note nothing; remember the latest place and time of *records*."""
    # In names of its own: this runs for every record, and few of them tell anything new.
    count, started, last = memory.records, memory.started, memory.last
    first_cwd, cwd, branch, client = memory.first_cwd, memory.cwd, memory.branch, memory.client
    for record, _ in records:
        count += 1
        timestamp = record.timestamp
        if timestamp and timestamp > last:
            last = timestamp
            started = started or timestamp
        if record.cwd and not record.is_sidechain:
            cwd = record.cwd
            first_cwd = first_cwd or cwd
            branch = record.git_branch or branch
            client = record.version or client
    memory.records, memory.started, memory.last = count, started, last
    memory.first_cwd, memory.cwd, memory.branch, memory.client = first_cwd, cwd, branch, client


def settle(memory: Memory) -> None:
    """Paths and times are kept as they come."""


def describe(memory: Memory, place: ProjectPlace) -> dict[str, Any]:
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
