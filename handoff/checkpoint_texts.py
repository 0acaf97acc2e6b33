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
    r"^<!-- flowd (?P<at>\S+)(?: session (?P<session>\S+))? -->\r?\n"
    r"(?P<lines>(?:(?!<!-- flowd ).*\n)*?)"
    r"<!-- /flowd -->(?=\r?$)",
    re.MULTILINE,
)
# Sessions whose notes are kept beside each other in one issue.
MAX_BLOCKS = 4
_PROGRESS = re.compile(r"Tasks 1-\d+ of \d+ \([^)]*\)(?:; )?")
_EMPTY = frozenset({"nothing yet", "nothing", "none", "not decided"})
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
MAX_SESSION_CHARACTERS = 40
SUBJECT_CHARACTERS = 80
THREAD_CHARACTERS = 128
GENERAL = "general"
_IMPORTANT = frozenset({"design-end", "epic-start", "epic-end", "pre-finish"})
MAILED = _IMPORTANT | {"manual", "idle"}


class BeadsNote(NamedTuple):
    """The state that another agent needs to continue, as of *at* (seconds since the epoch)."""

    at: float
    completed: str
    progress: str = ""
    decisions: tuple[str, ...] = ()
    in_progress: str = ""
    next: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    discovered: tuple[str, ...] = ()
    handoff: str = ""
    parallel_state: str = ""
    workers: tuple[str, ...] = ()
    session: str = ""
    # At the start of an epic there is nothing to tell yet: what the note before told is kept.
    is_start: bool = False

    def redacted(self, redact: Redact) -> "BeadsNote":
        """Return this note with secrets masked in all its texts."""
        fields = self._asdict()
        for name, value in fields.items():
            if isinstance(value, str):
                fields[name] = redact(value)
            elif isinstance(value, tuple):
                fields[name] = tuple(map(redact, value))
        return BeadsNote(**fields)


def carried(note: BeadsNote, block: str) -> BeadsNote:
    """Return *note* with what *block*, the session's note before, has where *note* says nothing.

    Only a note that tells of no result at all, or of the start of an epic, is filled up.
    """
    is_thin = not (note.completed or note.decisions or note.next or note.discovered)
    if not is_thin and not note.is_start:
        return note
    lines = dict(line.split(": ", 1) for line in block.split("\n") if _OWN_LINE.match(line))
    before = {label: "" if text in _EMPTY else text for label, text in lines.items()}

    def kept(label: str, present: tuple[str, ...]) -> tuple[str, ...]:
        return present or tuple(filter(None, [before.get(label, "")]))

    return note._replace(
        completed=note.completed or _PROGRESS.sub("", before.get("COMPLETED", "")),
        decisions=kept("KEY DECISIONS", note.decisions),
        in_progress=note.in_progress or before.get("IN PROGRESS", ""),
        next=kept("NEXT", note.next),
        blockers=kept("BLOCKER", note.blockers),
        discovered=kept("DISCOVERED", note.discovered),
    )


class OwnBlock(NamedTuple):
    """The newest note of flowd in an issue, and its time."""

    at: str
    text: str


def note_lines(note: BeadsNote) -> list[str]:
    """Return the note as one line per label, without a secret in them."""
    texts = {
        "COMPLETED": _one_line([note.progress, note.completed]) or "nothing yet",
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
    session = f" session {note.session}" if note.session else ""
    head = f"<!-- flowd {iso_millis(note.at)}{session} -->"
    while line_bytes >= MIN_LINE_BYTES:
        shortened = [_shortened(line, line_bytes) for line in lines]
        text = "\n".join([head, *shortened, "<!-- /flowd -->"])
        if len(text.encode()) <= room_bytes:
            return text
        line_bytes //= 2
    return None


def own_block(notes: str, session: str | None = None) -> OwnBlock | None:
    """Return the last note of flowd in *notes*, of *session* if given; none without both markers."""
    found = [match for match in _BLOCK.finditer(notes) if session is None or _is_of(match, session)]
    return OwnBlock(found[-1]["at"], found[-1][0]) if found else None


def merged_notes(notes: str, block: str, session: str = "") -> str:
    """Return *notes* with *block* in place of the last one of *session*, or appended; keep everything else.

    Of the notes of other sessions the latest are kept.
    """
    found = list(_BLOCK.finditer(notes))
    own = [match for match in found if _is_of(match, session)]
    others = sorted((match for match in found if match not in own), key=lambda match: match["at"])
    outdated = [*own[:-1], *others[: max(0, len(others) - MAX_BLOCKS + 1)]]
    pieces, end = [], 0
    for match in found:
        if match in outdated:
            foreign = "\n".join(_foreign_lines(match))
            pieces += [notes[end : match.start()], foreign]
            end = match.end() + (0 if foreign else _newline_after(notes, match.end()))
        elif own and match is own[-1]:
            pieces += [notes[end : match.start()], "\n".join([block, *_foreign_lines(match)])]
            end = match.end()
    merged = "".join([*pieces, notes[end:]])
    if own:
        return merged
    return f"{merged}\n{block}" if merged else block


def _is_of(match: re.Match[str], session: str) -> bool:
    # Earlier versions named no session.
    return match["session"] is None or match["session"] == session


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
    trigger: str = "manual"

    @property
    def content(self) -> str:
        """A digest of what it tells, whatever triggered it."""
        text = self.body.replace(f"- **Trigger:** {self.trigger}\n", "", 1)
        return hashlib.blake2b(text.encode(errors="replace"), digest_size=8).hexdigest()


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
        trigger=trigger,
    )


def thread_id(track: str, epic: str = "") -> str:
    """Return the thread of a track's handoffs, in the letters and the length that servers take."""
    name = "-".join(part for part in ("handoff", track or GENERAL, epic) if part)
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    if len(safe) <= THREAD_CHARACTERS:
        return safe
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
    return f"{safe[: THREAD_CHARACTERS - 9]}-{digest}"
