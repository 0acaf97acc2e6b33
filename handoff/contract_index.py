"""The index of a project's handoffs for the eye: when, why, what about, which file."""

import os
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from flowd.handoff.contract import Document
from flowd.handoff.contract_files import SUFFIX, Filed, replace_file
from flowd.handoff.contract_reading import decoded, read_bytes
from flowd.handoff.contract_text import one_line
from flowd.handoff.redaction import redact

# Hidden, and beside the directories: `ls -t <directory>` must find handoffs and nothing else.
FOLDER = ".index"
_HEAD = "| Time | Trigger | Purpose | File |\n|---|---|---|---|\n"


class Shelved(NamedTuple):
    """A handoff file and what it says."""

    file: Filed
    document: Document
    digest: str = ""


def index_path(directory: str) -> str:
    """Return where the index of the handoff directory *directory* is kept."""
    return os.path.join(os.path.dirname(directory), FOLDER, os.path.basename(directory) + SUFFIX)


def write_index(directory: str, shelf: list[Shelved]) -> str:
    """Bring the index of *directory* up to date, made anew when missing; return its path."""
    path, text = index_path(directory), index_text(os.path.basename(directory), shelf)
    if not Path(path).is_file() or decoded(read_bytes(path)) != text:
        replace_file(path, text)
    return path


def index_text(title: str, shelf: list[Shelved]) -> str:
    """Return the index as a table, newest first."""
    rows = "".join(_row(shelved) for shelved in shelf)
    return redact(f"# Handoffs: {one_line(title)}\n\n{_HEAD}{rows}")


def trigger_of(document: Document) -> str:
    """Return why a handoff was written; one that does not say was written by its session."""
    return document.trigger or ("auto" if document.is_auto else "session")


def _row(shelved: Shelved) -> str:
    moment = datetime.fromtimestamp(shelved.file.modified_at).astimezone().strftime("%Y-%m-%d %H:%M")
    cells = (
        moment,
        trigger_of(shelved.document),
        shelved.document.purpose,
        os.path.basename(shelved.file.path),
    )
    return "| " + " | ".join(one_line(cell).replace("|", "\\|") for cell in cells) + " |\n"
