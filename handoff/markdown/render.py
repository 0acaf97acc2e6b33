"""Render a handoff as the contract requires: metadata in the first five lines, then its sections."""

from datetime import datetime
from typing import NamedTuple

from flowd.handoff.markdown.document import NO_PURPOSE, NOTHING, PURPOSE_CHARACTERS, without_signal
from flowd.handoff.markdown.parse import source_line
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.text import cut
from flowd.system.text import one_line as one_line

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


def render_draft(draft: HandoffDraft, redact: Redact = redact) -> str:
    """Return the document, its secrets hidden and the escalation signal nowhere in it."""
    day = datetime.fromtimestamp(draft.at).astimezone().strftime("%Y-%m-%d")
    lines = [
        f"# Handoff — {day}{' (auto)' if draft.is_auto else ''}",
        "",
        f"session_id: {one_line(draft.session_id) or 'unknown'}",
        f"purpose: {one_line(draft.purpose) or NO_PURPOSE}",
        f"source: {one_line(source_line(draft.trigger, draft.branch, draft.commit, draft.project))}",
    ]
    for name in ("done", "next", "gotchas", "risks", "reflection"):
        lines += ["", f"## {name.capitalize()}", "", *_bullets(getattr(draft, name))]
    return without_signal(redact("\n".join(lines) + "\n"))


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


def _bullets(entries: tuple[str, ...]) -> list[str]:
    return [f"- {one_line(entry)}" for entry in entries if entry.strip()] or [f"- {NOTHING}"]


def _bare(text: str) -> str:
    return one_line(text.replace(CARRIED, "")).strip(" .").casefold()
