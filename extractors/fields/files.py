"""The files of the current work: edited by tools or the shell, and not removed since."""

import re
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from flowd.extractors.conversation import tools
from flowd.extractors.conversation.prompts import edited_in
from flowd.extractors.conversation.tools import ToolInput
from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.extractors.transcript.records import RecordBlock
from flowd.redaction.redactor import redact

if TYPE_CHECKING:
    from flowd.extractors.transcript.memory import ConversationMemory

KEPT = 40
CALLS = 24
EDITING = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
# The client's notes do not belong to the work.
NOTES = re.compile(r"/\.claude/(?:plans|projects|todos|tasks)/|/claude-\d+/|/scratchpad/")
TEMPORARY = ("/tmp", "/private/tmp", "/var/tmp")  # noqa: S108 compared, never written
COMMIT = "git commit"
_LAST_EDIT = itemgetter(1)


class Files(msgspec.Struct):
    """Edited files with the numbers of their first and last edit, and the calls without a result."""

    files: dict[str, tuple[int, int]] = {}
    calls: dict[str, str] = {}
    edits: int = 0
    edits_committed: int = 0


def called(memory: Files, block: RecordBlock, given: ToolInput, cwd: str) -> None:
    """Add the files that a call edits or writes; drop those that it removes."""
    if block.name in EDITING:
        path = given.file_path or given.notebook_path
        if path:
            _edited(memory, path)
            _expect(memory, block, path)
    elif block.name == "Bash":
        command = given.command
        if (
            "<<" in command
            or "rm " in command
            or "commit" in command
            or "sed -i" in command
            or "perl -" in command
        ):
            _ran(memory, block, tools.without_documents(command), cwd)


def returned(memory: Files, block: RecordBlock) -> None:
    """Undo an edit that failed; after a commit, start a new set of files."""
    path = memory.calls.pop(block.tool_use_id or "", None)
    if path == COMMIT:
        if not block.is_error:
            memory.files = {kept: memory.files[kept] for kept in _current(memory)}
            memory.edits_committed = memory.edits
    elif path and block.is_error:
        first, last = memory.files.get(path, (0, 1))
        if first == last:
            del memory.files[path]


def reported(memory: Files, report: str, cwd: str) -> None:
    """Add the files that a subagent reports as edited."""
    for path in edited_in(report):
        _edited(memory, _absolute(path, cwd))


def describe(memory: "ConversationMemory", place: ProjectPlace) -> dict[str, Any]:
    """Return the files of the current work, latest first, relative to the project."""
    return {"files": tuple(relative(path, place.root) for path in reversed(_current(memory.files)))}


def reads(memory: "ConversationMemory") -> tuple[object, ...]:
    """Return everything that ``describe`` reads."""
    files = memory.files
    return (files.edits_committed, tuple(files.files.items()))


def relative(path: str, root: str) -> str:
    """Return *path* relative to *root* when it lies below it, else as it is."""
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else path


def _current(memory: Files) -> list[str]:
    """Return the files, latest last; only the new ones when none of them is part of the last commit."""
    in_order = sorted(memory.files, key=lambda path: memory.files[path][1])
    later = [path for path in in_order if memory.files[path][1] > memory.edits_committed]
    moved_on = later and all(memory.files[path][0] > memory.edits_committed for path in later)
    return later if moved_on else in_order


def _ran(memory: Files, block: RecordBlock, command: str, cwd: str) -> None:
    base = tools.directory(command) or cwd
    for path in tools.written_files(command):
        _edited(memory, _absolute(path, base))
    for path in tools.removed_files(command):
        _removed(memory, _absolute(path, base))
    if tools.commits(command):
        _expect(memory, block, COMMIT)


def _edited(memory: Files, path: str) -> None:
    if _is_note(path) or path.rpartition("/")[0] in TEMPORARY:
        return
    memory.edits += 1
    known = memory.files.get(path)
    if known is None:
        path = redact(path)
        if len(memory.files) >= KEPT:
            del memory.files[min(zip(map(_LAST_EDIT, memory.files.values()), memory.files, strict=True))[1]]
    memory.files[path] = (known[0] if known else memory.edits, memory.edits)


def _is_note(path: str) -> bool:
    return ("claude" in path or "scratchpad" in path) and NOTES.search(path) is not None


def _removed(memory: Files, path: str) -> None:
    for known in [
        known for known in memory.files if known == path or known.startswith(path.rstrip("/") + "/")
    ]:
        del memory.files[known]


def _expect(memory: Files, block: RecordBlock, what: str) -> None:
    if block.id:
        memory.calls[block.id] = what
        if len(memory.calls) > CALLS:
            del memory.calls[next(iter(memory.calls))]


def _absolute(path: str, base: str) -> str:
    if path.startswith(("/", "~")) or not base:
        return path
    return f"{base.rstrip('/')}/{path.removeprefix('./')}"
