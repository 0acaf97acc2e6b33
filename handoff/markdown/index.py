"""The index of a project's handoff documents: time, trigger, purpose and file of each."""

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
from flowd.system.files import UnreadableFileError
from flowd.system.text import one_line
from flowd.system.times import local_minute

# Hidden, and beside the directories: `ls -t <directory>` must find handoffs and nothing else.
FOLDER = ".index"
_HEAD = "| Time | Trigger | Purpose | File |\n|---|---|---|---|\n"


class ParsedHandoff(NamedTuple):
    """A handoff document with its file."""

    file: HandoffFile
    document: Document
    digest: str = ""


def index_path(directory: str) -> str:
    """Return where the index of the handoff directory *directory* is kept."""
    return os.path.join(os.path.dirname(directory), FOLDER, os.path.basename(directory) + SUFFIX)


def write_index(directory: str, parsed: list[ParsedHandoff], redact: Redact = redact) -> str:
    """Write the index of *directory* if it has changed; return its path."""
    path, text = index_path(directory), index_text(os.path.basename(directory), parsed, redact)
    if not Path(path).is_file() or decoded(read_bytes(path)) != text:
        replace_file(path, text)
    return path


def index_text(title: str, parsed: list[ParsedHandoff], redact: Redact = redact) -> str:
    """Return the index as a table, newest first."""
    rows = "".join(_row(handoff) for handoff in parsed)
    return redact(f"# Handoffs: {one_line(title)}\n\n{_HEAD}{rows}")


def trigger_of(document: Document) -> str:
    """Return the trigger of a handoff document; without one it was written by its session."""
    return document.trigger or ("auto" if document.is_auto else "session")


def _row(handoff: ParsedHandoff) -> str:
    moment = local_minute(handoff.file.modified_at)
    cells = (
        moment,
        trigger_of(handoff.document),
        handoff.document.purpose,
        os.path.basename(handoff.file.path),
    )
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |\n"


# Older ones stay on disk and in core.db; nothing that is decided looks so far back.
MAX_READ = 200

IsForeign = Callable[[str, Document], bool]


def parsed_handoffs(handoffs: str, places: tuple[str, ...], is_foreign: IsForeign) -> list[ParsedHandoff]:
    """Return the handoffs of the project whose root and working directory are *places*, newest first."""
    files = [file for directory in directories_of(handoffs, *places) for file in handoff_files(directory)]
    files.sort(key=lambda file: -file.modified_ns)
    found = [handoff for file in files[:MAX_READ] if (handoff := parse_file(file)) is not None]
    return [handoff for handoff in found if not is_foreign(handoff.file.path, handoff.document)]


def refresh_index(directory: str, redact: Redact = redact) -> str:
    """Rewrite the index of all handoffs in *directory*; return its path."""
    files = handoff_files(directory)[:MAX_READ]
    parsed = [handoff for file in files if (handoff := parse_file(file)) is not None]
    return write_index(directory, parsed, redact)


def parse_file(file: HandoffFile) -> ParsedHandoff | None:
    """Parse *file*; return None if it is gone or cannot be read."""
    try:
        return read_handoff_file(file)
    except (OSError, UnreadableFileError):
        return None


def read_handoff_file(file: HandoffFile) -> ParsedHandoff:
    """Parse *file*; raise OSError or UnreadableFileError if it cannot be read."""
    data = read_bytes(file.path)
    return ParsedHandoff(file, read_document(decoded(data)), text_digest(data))
