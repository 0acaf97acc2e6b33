"""The activity extractor: working directory, branch, client and who drives it, first and last timestamp."""

from typing import Any

import msgspec

from flowd.extractors.transcript.protocol import Noted, ProjectPlace, Records
from flowd.model.client import is_headless
from flowd.system.times import seconds

NAME = "activity"
MAX_BRANCHES = 8


class ActivityMemory(msgspec.Struct):
    """The latest value of each field, and the first directory and timestamp."""

    first_cwd: str = ""
    cwd: str = ""
    branch: str = ""
    branches: list[str] = []
    client: str = ""
    started: str = ""
    last: str = ""
    records: int = 0
    touched_at: float = 0.0
    entrypoint: str = ""
    was_attended: bool = False


MEMORY = ActivityMemory


def feed(memory: ActivityMemory, records: Records, noted: Noted) -> None:
    """Remember the latest directory, branch, client and time of *records*; add no notes."""
    # Local variables: this loop runs for every record, and few records change anything.
    count, started, last = memory.records, memory.started, memory.last
    first_cwd, cwd, branch, client = memory.first_cwd, memory.cwd, memory.branch, memory.client
    entrypoint = memory.entrypoint
    for record, _ in records:
        count += 1
        timestamp = record.timestamp
        if timestamp and timestamp > last:
            last = timestamp
            started = started or timestamp
        if record.cwd and not record.is_sidechain:
            cwd = record.cwd
            first_cwd = first_cwd or cwd
            if record.git_branch and record.git_branch != branch:
                branch = record.git_branch
                enter_branch(memory, branch)
            client = record.version or client
            if record.entrypoint and record.entrypoint != entrypoint:
                entrypoint = record.entrypoint
                note_entrypoint(memory, entrypoint)
    memory.records, memory.started, memory.last = count, started, last
    memory.first_cwd, memory.cwd, memory.branch, memory.client = first_cwd, cwd, branch, client


def enter_branch(memory: ActivityMemory, branch: str) -> None:
    """Take *branch* as the one that the session is on now."""
    memory.branch = branch
    if branch and branch not in memory.branches:
        memory.branches = [*memory.branches, branch][-MAX_BRANCHES:]


def note_entrypoint(memory: ActivityMemory, entrypoint: str) -> None:
    """Remember how the client was started; once a person was at it, the session is that person's."""
    memory.entrypoint = entrypoint
    memory.was_attended = memory.was_attended or not is_headless(entrypoint)


def finalize(memory: ActivityMemory) -> None:
    """Do nothing: paths and times need no redaction."""


def describe(memory: ActivityMemory, place: ProjectPlace) -> dict[str, Any]:
    """Return the session's directory, branch, client, times, and whether no person was ever at it."""
    return {
        "cwd": memory.cwd,
        "branch": memory.branch,
        "branches": tuple(memory.branches),
        "client": memory.client,
        "started_at": seconds(memory.started),
        "last_activity_at": seconds(memory.last),
        "records": memory.records,
        "touched_at": memory.touched_at,
        "headless": bool(memory.entrypoint) and not memory.was_attended,
    }
