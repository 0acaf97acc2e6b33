"""The handoff documents of a track: render and parse one, and keep the index of all."""

import itertools
import json
import os
import re
from functools import cache
from importlib import resources
from string import Template
from typing import Any, NamedTuple

from flowd.handoff.errors import HandoffError
from flowd.handoff.track.files import (
    add_track_file,
    make_track_folder,
    read_track_file,
    replace_track_file,
    track_lock,
)
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.markdown import split_front_matter, split_lines
from flowd.system.text import printable_line
from flowd.system.times import iso_millis, to_seconds
from flowd.system.yaml_text import YamlTextError, load_yaml

UNKNOWN = "unknown"
MIN_STEPS, MAX_STEPS = 3, 7
MAX_LINES = 20
SUFFIXES_TRIED = 100
NOTHING = "- (nothing noted)"
# First steps for anyone who takes over; they fill up a list that is too short.
USUAL_STEPS = (
    "Check this handoff against the files and the branch",
    "Read plan.md and take the first open task",
    "Write the next handoff before you leave",
)
_STEP = re.compile(r"^[ \t]*+(?:\d++[.)]|[-*+])[ \t]++\[ \][ \t]++(?P<text>.+)$", re.MULTILINE)
_IN_NAME = str.maketrans("T:.", "_--")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._/@+-]*")
INDEX = "index.md"
COLUMNS = ("timestamp", "trigger", "bead", "summary", "file")
SUMMARY_CHARACTERS = 100
MAX_READ = 1000
_RULE = re.compile(r"[\s:|]*+-[\s:|-]*$")


class TrackHandoff(NamedTuple):
    """The content of one track handoff."""

    at: float
    trigger: str
    track: str
    bead: str = ""
    commit: str = ""
    branch: str = ""
    author: str = "agent"
    gates_passed: tuple[str, ...] = ()
    current_gate: str = ""
    context: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()
    next: tuple[str, ...] = ()


class ReadHandoff(NamedTuple):
    """A track handoff as read from its file: the fields of its front matter, and the whole text."""

    path: str
    timestamp: str
    trigger: str
    bead: str
    branch: str
    commit: str
    text: str

    @property
    def at(self) -> float:
        """When it was written, by its front matter; 0 if that has no time."""
        return to_seconds(self.timestamp)

    @property
    def next_steps(self) -> list[str]:
        """The steps that are still open."""
        _, _, section = self.text.partition("\n## Next Steps")
        return [match["text"].strip() for match in _STEP.finditer(section)]

    @property
    def summary(self) -> str:
        """The first line of its context."""
        _, _, section = self.text.partition("\n## Context")
        lines = (line.strip().lstrip("-* ") for line in section.splitlines()[1:])
        return next((line for line in lines if line), "")


def render(handoff: TrackHandoff, redact: Redact = redact) -> str:
    """Return the document, its secrets hidden."""
    bead = f"bead_id: {_scalar(handoff.bead)}\n" if handoff.bead else ""
    text = _template().substitute(
        timestamp=iso_millis(handoff.at),
        trigger=handoff.trigger,
        track_id=_scalar(handoff.track),
        bead=bead,
        git_commit=_scalar(handoff.commit[:7] or UNKNOWN),
        git_branch=_scalar(handoff.branch or UNKNOWN),
        author=handoff.author,
        gates_passed=json.dumps(list(handoff.gates_passed), ensure_ascii=False),
        current_gate=_scalar(handoff.current_gate) if handoff.current_gate else "null",
        track=printable_line(handoff.track),
        title=handoff.trigger,
        context=_bullets(handoff.context),
        changes=_bullets(handoff.changes),
        learnings=_bullets(handoff.learnings),
        next_steps=_steps(handoff.next),
    )
    return redact(text)


def file_name(handoff: TrackHandoff) -> str:
    """Return the file name by time, track, epic and trigger, without a suffix for collisions."""
    stamp = iso_millis(handoff.at).removesuffix("Z").translate(_IN_NAME)
    parts = [stamp, handoff.track, *([handoff.bead] if handoff.bead else []), handoff.trigger]
    return "_".join(_name_part(part) for part in parts) + ".md"


def write_document(project: str, directory: str, handoff: TrackHandoff, text: str) -> str:
    """Write *text* under a free name in *directory* and return that name; the same text is written once."""
    make_track_folder(project, directory)
    stem = file_name(handoff).removesuffix(".md")
    for number in range(SUFFIXES_TRIED):
        name = f"{stem}{f'-{number}' if number else ''}.md"
        path = os.path.join(directory, name)
        if add_track_file(project, path, text) or read_track_file(project, path) == text:
            return name
    raise AssertionError(f"{SUFFIXES_TRIED} handoffs in one millisecond")


def read_document(path: str, text: str) -> ReadHandoff | None:
    """Parse a track handoff; return None without the front matter of one."""
    front, _ = split_front_matter(split_lines(text))
    fields = _fields("\n".join(front))
    if "trigger" not in fields and "timestamp" not in fields:
        return None
    return ReadHandoff(
        path=path,
        timestamp=str(fields.get("timestamp") or ""),
        trigger=str(fields.get("trigger") or ""),
        bead=str(fields.get("bead_id") or ""),
        branch=str(fields.get("git_branch") or "").replace(UNKNOWN, ""),
        commit=str(fields.get("git_commit") or "").replace(UNKNOWN, ""),
        text=text,
    )


def _fields(text: str) -> dict[str, Any]:
    try:
        # Text only: a commit such as 1e10000 is not a number.
        value = load_yaml(text, only_text=True)
    except YamlTextError:
        return {}
    return value if isinstance(value, dict) else {}


@cache
def _template() -> Template:
    return Template(
        resources.files("flowd.handoff.track").joinpath("template.md").read_text(encoding="utf-8")
    )


def _scalar(text: str) -> str:
    line = printable_line(text)
    return line if _PLAIN.fullmatch(line) and not line.endswith(" ") else json.dumps(line, ensure_ascii=False)


def _bullets(lines: tuple[str, ...]) -> str:
    bullets = [f"- {line}" for text in lines[:MAX_LINES] if (line := printable_line(text))]
    return "\n".join(bullets) or NOTHING


def _steps(steps: tuple[str, ...]) -> str:
    chosen = list(dict.fromkeys(line for text in steps if (line := printable_line(text))))[:MAX_STEPS]
    chosen += [step for step in USUAL_STEPS if step not in chosen][: max(0, MIN_STEPS - len(chosen))]
    return "\n".join(f"{number}. [ ] {step}" for number, step in enumerate(chosen, 1))


def _name_part(text: str) -> str:
    return re.sub(r"[^\w.-]", "-", text).lstrip(".") or "-"


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
