"""A checkpoint as the note that flowd keeps in a Beads issue, and as a mail to another agent."""

import hashlib
import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.text import ELLIPSIS, cut, one_line, printable_line
from flowd.system.times import iso_millis

# Longer lines help neither people nor models.
LINE_BYTES = 4000
MIN_LINE_BYTES = 60
_BLOCK = re.compile(
    r"^<!-- flowd (?P<at>\S+) -->\r?\n"
    r"(?P<lines>(?:(?!<!-- flowd ).*\n)*?)"
    r"<!-- /flowd -->(?=\r?$)",
    re.MULTILINE,
)
_LABELS = (
    "COMPLETED",
    "KEY DECISIONS",
    "IN PROGRESS",
    "NEXT",
    "BLOCKER",
    "DISCOVERED",
    "HANDOFF",
    "PARALLEL_STATE",
    "WORKERS",
)
_OWN_LINE = re.compile(rf"(?:{'|'.join(_LABELS)}): ")
SUBJECT_CHARACTERS = 80
THREAD_CHARACTERS = 128
GENERAL = "general"
_IMPORTANT = frozenset({"design-end", "epic-start", "epic-end", "pre-finish"})
MAILED = _IMPORTANT | {"manual", "idle"}


class BeadsNote(NamedTuple):
    """The state that another agent needs to continue, as of *at* (seconds since the epoch)."""

    at: float
    completed: str
    decisions: tuple[str, ...] = ()
    in_progress: str = ""
    next: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    discovered: tuple[str, ...] = ()
    handoff: str = ""
    parallel_state: str = ""
    workers: tuple[str, ...] = ()

    def redacted(self, redact: Redact) -> "BeadsNote":
        """Return this note with secrets masked in all its texts."""
        fields = self._asdict()
        for name, value in fields.items():
            if isinstance(value, str):
                fields[name] = redact(value)
            elif isinstance(value, tuple):
                fields[name] = tuple(map(redact, value))
        return BeadsNote(**fields)


class OwnBlock(NamedTuple):
    """The newest note of flowd in an issue, and its time."""

    at: str
    text: str


def note_lines(note: BeadsNote) -> list[str]:
    """Return the note as one line per label, without a secret in them."""
    texts = {
        "COMPLETED": _one_line([note.completed]) or "nothing yet",
        "KEY DECISIONS": _one_line(note.decisions) or "none",
        "IN PROGRESS": _one_line([note.in_progress]) or "nothing",
        "NEXT": _one_line(note.next) or "not decided",
        "BLOCKER": _one_line(note.blockers) or "none",
        "DISCOVERED": _one_line(note.discovered),
        "HANDOFF": _one_line([note.handoff]) or "none",
        "PARALLEL_STATE": _one_line([note.parallel_state]),
        "WORKERS": _one_line(note.workers),
    }
    return [_shortened(f"{label}: {text}", LINE_BYTES) for label, text in texts.items() if text]


def block_text(note: BeadsNote, room_bytes: int) -> str | None:
    """Return the note between its markers, shortened to *room_bytes*; None if that is not possible."""
    lines, line_bytes = note_lines(note), LINE_BYTES
    while line_bytes >= MIN_LINE_BYTES:
        shortened = [_shortened(line, line_bytes) for line in lines]
        text = "\n".join([f"<!-- flowd {iso_millis(note.at)} -->", *shortened, "<!-- /flowd -->"])
        if len(text.encode()) <= room_bytes:
            return text
        line_bytes //= 2
    return None


def own_block(notes: str) -> OwnBlock | None:
    """Return the last note of flowd in *notes*; one without both markers does not count."""
    found = list(_BLOCK.finditer(notes))
    return OwnBlock(found[-1]["at"], found[-1][0]) if found else None


def merged_notes(notes: str, block: str) -> str:
    """Return *notes* with *block* in place of flowd's last one, or appended; keep everything else."""
    found = list(_BLOCK.finditer(notes))
    if not found:
        return f"{notes}\n{block}" if notes else block
    *older, last = found
    pieces, end = [], 0
    for match in older:
        foreign = "\n".join(_foreign_lines(match))
        pieces += [notes[end : match.start()], foreign]
        end = match.end() + (0 if foreign else _newline_after(notes, match.end()))
    pieces += [notes[end : last.start()], "\n".join([block, *_foreign_lines(last)]), notes[last.end() :]]
    return "".join(pieces)


def _foreign_lines(match: re.Match[str]) -> list[str]:
    """Return the lines between flowd's markers that flowd did not write."""
    return [line for line in match["lines"].split("\n")[:-1] if not _OWN_LINE.match(line)]


def _newline_after(text: str, place: int) -> int:
    return 2 if text.startswith("\r\n", place) else int(text.startswith("\n", place))


def _one_line(parts: Iterable[str]) -> str:
    return printable_line(redact("; ".join(part for part in parts if part)))


def _shortened(line: str, most_bytes: int) -> str:
    data = line.encode()
    if len(data) <= most_bytes:
        return line
    return data[: most_bytes - len(ELLIPSIS.encode())].decode(errors="ignore") + ELLIPSIS


class MailMessage(NamedTuple):
    """A mail; ``id`` is that of the checkpoint, so that the same one is never sent twice."""

    id: str
    subject: str
    thread_id: str
    importance: Literal["high", "normal"]
    body: str


def mail_message(
    identity: str,
    *,
    trigger: str,
    track: str,
    context: str,
    body: str,
    epic: str = "",
    redact: Redact = redact,
) -> MailMessage:
    """Return the mail about one handoff of *track* (empty: general work), without a secret in it."""
    about = f"{track or GENERAL}/{epic}" if epic else track or GENERAL
    subject = one_line(redact(f"[HANDOFF:{trigger}] {about} - {context}"))
    return MailMessage(
        id=identity,
        subject=cut(subject, SUBJECT_CHARACTERS),
        thread_id=thread_id(track, epic),
        importance="high" if trigger in _IMPORTANT else "normal",
        body=redact(body),
    )


def thread_id(track: str, epic: str = "") -> str:
    """Return the thread of a track's handoffs, in the letters and the length that servers take."""
    name = "-".join(part for part in ("handoff", track or GENERAL, epic) if part)
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    if len(safe) <= THREAD_CHARACTERS:
        return safe
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
    return f"{safe[: THREAD_CHARACTERS - 9]}-{digest}"
