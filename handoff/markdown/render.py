"""Render a handoff as the contract requires: metadata in the first five lines, then its sections."""

from datetime import datetime
from typing import NamedTuple

from flowd.handoff.markdown.document import NO_PURPOSE, NOTHING, PURPOSE_CHARACTERS, without_signal
from flowd.handoff.markdown.parse import source_line
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.text import cut
from flowd.system.text import one_line as one_line

# The lines that hold a document's metadata.
_HEAD = 6
CARRIED = "(carried forward)"


class HandoffDraft(NamedTuple):
    """The content of a handoff document, section by section."""

    session_id: str
    purpose: str
    trigger: str
    project: str
    at: float
    branch: str = ""
    commit: str = ""
    is_auto: bool = False
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    reflection: tuple[str, ...] = ()
    # Entries that were stated for this handoff: an escalation in them is meant, and stays as it is.
    stated: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it would tell the next session nothing."""
        entries = (*self.done, *self.next, *self.gotchas, *self.risks, *self.reflection)
        return not self.purpose.strip() and not any(map(str.strip, entries))


SECTIONS = ("done", "next", "gotchas", "risks", "reflection")
# Of these entries a document has one: the latest.
_LATEST = ("Last worked on: ", "Files touched: ")


def render_draft(draft: HandoffDraft, redact: Redact = redact) -> str:
    """Return the document, its secrets hidden; an escalation signal is in it only where it was stated."""
    day = datetime.fromtimestamp(draft.at).astimezone().strftime("%Y-%m-%d")
    lines = [
        f"# Handoff — {day}{' (auto)' if draft.is_auto else ''}",
        "",
        f"session_id: {one_line(draft.session_id) or 'unknown'}",
        f"purpose: {one_line(draft.purpose) or NO_PURPOSE}",
        f"source: {one_line(source_line(draft.trigger, draft.branch, draft.commit, draft.project))}",
    ]
    lines = [without_signal(line) for line in lines]
    for name in SECTIONS:
        lines += ["", f"## {name.capitalize()}", "", *(_bullets(draft, name) or [f"- {NOTHING}"])]
    return redact("\n".join(lines) + "\n")


def added_to(text: str, draft: HandoffDraft, redact: Redact = redact) -> str:
    """Return the document *text* with what *draft* adds to its sections; everything else stays as it is."""
    lines = text.splitlines()
    if draft.purpose.strip():
        purpose = redact(without_signal(f"purpose: {one_line(draft.purpose)}"))
        lines = [
            purpose if line.startswith("purpose:") and number < _HEAD else line
            for number, line in enumerate(lines)
        ]
    for name in SECTIONS:
        lines = _with_bullets(
            lines, f"## {name.capitalize()}", [redact(line) for line in _bullets(draft, name)]
        )
    return "\n".join(lines) + "\n"


def _with_bullets(lines: list[str], heading: str, bullets: list[str]) -> list[str]:
    """Return *lines* with those *bullets* below *heading* that are not there yet."""
    if heading not in lines:
        return [*lines, "", heading, "", *bullets] if bullets else lines
    start = lines.index(heading) + 1
    end = next((number for number in range(start, len(lines)) if lines[number].startswith("## ")), len(lines))
    section = [line for line in lines[start:end] if not bullets or line != f"- {NOTHING}"]
    outdated = tuple(
        f"- {prefix}" for prefix in _LATEST if any(line.startswith(f"- {prefix}") for line in bullets)
    )
    section = [line for line in section if not outdated or not line.startswith(outdated)]
    known = {_bare(line[2:]) for line in section if line.startswith("- ")}
    new = [line for line in bullets if _bare(line[2:]) not in known]
    last = max((number for number, line in enumerate(section) if line.strip()), default=-1) + 1
    before = section[:last] or [""]
    return [*lines[:start], *before, *new, *(section[last:] or [""]), *lines[end:]]


def as_purpose(text: str) -> str:
    """Return *text* as short as a purpose should be."""
    return cut(one_line(text), PURPOSE_CHARACTERS)


def carried_forward(before: list[str], now: tuple[str, ...], done: tuple[str, ...], most: int) -> list[str]:
    """Return the entries of *before* that neither *now* nor *done* names, marked as carried once."""
    named = {_bare(text) for text in (*now, *done)}
    left: dict[str, str] = {}
    for text in before:
        bare = _bare(text)
        if bare and bare not in named:
            left.setdefault(bare, f"{text.removesuffix(CARRIED).strip()} {CARRIED}")
    return list(left.values())[:most]


def _bullets(draft: HandoffDraft, section: str) -> list[str]:
    entries = [entry for entry in getattr(draft, section) if entry.strip()]
    shown = [
        one_line(entry) if entry in draft.stated else without_signal(one_line(entry)) for entry in entries
    ]
    return [f"- {entry}" for entry in shown]


def _bare(text: str) -> str:
    return one_line(text.replace(CARRIED, "")).strip(" .").casefold()
