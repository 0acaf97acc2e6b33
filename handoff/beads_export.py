"""Epics closed according to Beads' own export, read where it is there; the database is left alone."""

import os

import msgspec

from flowd.handoff.errors import BrokenHandoffError
from flowd.handoff.small_file import READ_FLAGS, read_capped
from flowd.handoff.timestamps import to_seconds

EXPORT = "issues.jsonl"
LARGEST_EXPORT = 32 << 20


class _Dependency(msgspec.Struct, frozen=True):
    depends_on_id: str = ""
    type: str = ""


class _Issue(msgspec.Struct, frozen=True):
    id: str
    status: str = ""
    issue_type: str = ""
    closed_at: str = ""
    dependencies: tuple[_Dependency, ...] = ()


_decode = msgspec.json.Decoder(_Issue).decode


def closed_epics(beads_directory: str, epic: str, since: float) -> list[str]:
    """Return *epic* and the epics below it that were closed after *since*, in the order of the export."""
    found = (_closed_epic(line) for line in _lines(os.path.join(beads_directory, EXPORT)))
    return [
        issue.id
        for issue in found
        if issue is not None and _belongs(issue, epic) and to_seconds(issue.closed_at) > since
    ]


def _closed_epic(line: bytes) -> _Issue | None:
    if b'"closed"' not in line:
        return None
    try:
        issue = _decode(line)
    except msgspec.DecodeError:
        return None
    return issue if issue.status == "closed" and issue.issue_type == "epic" else None


def _belongs(issue: _Issue, epic: str) -> bool:
    parents = (link.depends_on_id for link in issue.dependencies if link.type == "parent-child")
    return issue.id == epic or issue.id.startswith(epic + ".") or epic in parents


def _lines(path: str) -> list[bytes]:
    try:
        descriptor = os.open(path, READ_FLAGS | os.O_NOFOLLOW)
    except OSError:
        return []
    try:
        return read_capped(descriptor, LARGEST_EXPORT).split(b"\n")
    except (OSError, BrokenHandoffError):
        return []
    finally:
        os.close(descriptor)
