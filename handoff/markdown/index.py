"""The index of a project's handoffs for the eye: when, why, what about, which file."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from flowd.handoff.markdown.directory import (
    SUFFIX,
    HandoffFile,
    directories_of,
    handoff_files,
    replace_file,
    text_digest,
)
from flowd.handoff.markdown.document import Document
from flowd.handoff.markdown.parse import decoded, read_bytes, read_document
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.text import one_line
from flowd.system.times import local_minute

# Hidden, and beside the directories: `ls -t <directory>` must find handoffs and nothing else.
FOLDER = ".index"
_HEAD = "| Time | Trigger | Purpose | File |\n|---|---|---|---|\n"


class ParsedHandoff(NamedTuple):
    """A handoff file and what it says."""

    file: HandoffFile
    document: Document
    digest: str = ""


def index_path(directory: str) -> str:
    """Return where the index of the handoff directory *directory* is kept."""
    return os.path.join(os.path.dirname(directory), FOLDER, os.path.basename(directory) + SUFFIX)


def write_index(directory: str, shelf: list[ParsedHandoff], redact: Redact = redact) -> str:
    """Bring the index of *directory* up to date, made anew when missing; return its path."""
    path, text = index_path(directory), index_text(os.path.basename(directory), shelf, redact)
    if not Path(path).is_file() or decoded(read_bytes(path)) != text:
        replace_file(path, text)
    return path


def index_text(title: str, shelf: list[ParsedHandoff], redact: Redact = redact) -> str:
    """Return the index as a table, newest first."""
    rows = "".join(_row(shelved) for shelved in shelf)
    return redact(f"# Handoffs: {one_line(title)}\n\n{_HEAD}{rows}")


def trigger_of(document: Document) -> str:
    """Return why a handoff was written; one that does not say was written by its session."""
    return document.trigger or ("auto" if document.is_auto else "session")


def _row(shelved: ParsedHandoff) -> str:
    moment = local_minute(shelved.file.modified_at)
    cells = (
        moment,
        trigger_of(shelved.document),
        shelved.document.purpose,
        os.path.basename(shelved.file.path),
    )
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |\n"


# Older ones stay on disk and in core.db; nothing that is decided looks so far back.
MAX_READ = 200

IsForeign = Callable[[str, Document], bool]


def parsed_handoffs(handoffs: str, places: tuple[str, ...], is_foreign: IsForeign) -> list[ParsedHandoff]:
    """Return the handoffs of the project whose root and working directory are *places*, newest first."""
    files = [filed for directory in directories_of(handoffs, *places) for filed in handoff_files(directory)]
    files.sort(key=lambda filed: -filed.modified_ns)
    found = [shelved for filed in files[:MAX_READ] if (shelved := parse_file(filed)) is not None]
    return [shelved for shelved in found if not is_foreign(shelved.file.path, shelved.document)]


def refresh_index(directory: str, redact: Redact = redact) -> str:
    """Bring the index of all handoffs in *directory* up to date; return its path."""
    files = handoff_files(directory)[:MAX_READ]
    shelf = [shelved for filed in files if (shelved := parse_file(filed)) is not None]
    return write_index(directory, shelf, redact)


def parse_file(filed: HandoffFile) -> ParsedHandoff | None:
    """Return *filed* with what it says, or None when it went or may not be read."""
    try:
        data = read_bytes(filed.path)
    except OSError:
        return None
    return ParsedHandoff(filed, read_document(decoded(data)), text_digest(data))
