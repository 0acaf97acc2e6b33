"""index.md beside track handoffs: one row for each, appended; rebuilt if the file is missing."""

import itertools
import os
import re

from flowd.handoff.errors import HandoffError
from flowd.handoff.track.document import ReadHandoff, read_document
from flowd.handoff.track.files import make_track_folder, read_track_file, replace_track_file, track_lock
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.times import iso_millis

INDEX = "index.md"
COLUMNS = ("timestamp", "trigger", "bead", "summary", "file")
SUMMARY_CHARACTERS = 100
MAX_READ = 1000
_RULE = re.compile(r"^\s*\|?[\s:|-]*-[\s:|-]*\|?\s*$")


def add_to_index(project: str, directory: str, track: str, name: str, redact: Redact = redact) -> bool:
    """Add the handoff *name* to index.md; return False if its table has other columns."""
    make_track_folder(project, directory)
    path = os.path.join(directory, INDEX)
    with track_lock(project, directory):
        present = read_track_file(project, path)
        if present is None:
            replace_track_file(project, path, _whole(project, directory, track, redact))
            return True
        if f"](./{name})" in present:
            return True
        if not _has_own_columns(present):
            return False
        row = _row(_read(project, os.path.join(directory, name)), redact)
        replace_track_file(project, path, _after_last_row(present, row))
        return True


def handoffs_in(project: str, directory: str) -> list[ReadHandoff]:
    """Return the handoffs of *directory* by the time in their front matter, oldest first."""
    names = [name for name in _names(directory) if name.endswith(".md") and name != INDEX]
    found = []
    for name in names[:MAX_READ]:
        try:
            found.append(_read(project, os.path.join(directory, name)))
        except HandoffError:
            continue
    return sorted((handoff for handoff in found if handoff.timestamp), key=lambda each: (each.at, each.path))


def _whole(project: str, directory: str, track: str, redact: Redact) -> str:
    rows = [_row(handoff, redact) for handoff in handoffs_in(project, directory)]
    head = [
        f"# Handoff Log: {track}",
        "",
        "| Timestamp | Trigger | Bead | Summary | File |",
        "|-----------|---------|------|---------|------|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def _row(handoff: ReadHandoff, redact: Redact) -> str:
    when = iso_millis(handoff.at).removesuffix("Z").replace("T", " ")
    name = os.path.basename(handoff.path)
    cells = (when, handoff.trigger or "-", handoff.bead or "-", handoff.summary[:SUMMARY_CHARACTERS] or "-")
    return f"| {' | '.join(_cell(redact(cell)) for cell in cells)} | [→](./{name}) |"


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _has_own_columns(text: str) -> bool:
    """Return True if the last table of *text* has the columns of flowd's rows."""
    lines = text.splitlines()
    heads = [head for head, rule in itertools.pairwise(lines) if "|" in head and _RULE.match(rule)]
    if not heads:
        return False
    return tuple(cell.strip().lower() for cell in heads[-1].strip().strip("|").split("|")) == COLUMNS


def _after_last_row(text: str, row: str) -> str:
    lines = text.splitlines()
    last = max(number for number, line in enumerate(lines) if line.lstrip().startswith("|"))
    return "\n".join([*lines[: last + 1], row, *lines[last + 1 :]]) + "\n"


def _read(project: str, path: str) -> ReadHandoff:
    text = read_track_file(project, path) or ""
    name = os.path.basename(path)
    return read_document(path, text) or ReadHandoff(path, "", "", "", "", "", f"\n## Context\n{name}")


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
