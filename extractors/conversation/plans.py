"""Plans: their titles and their verification steps."""

import re

from flowd.extractors.text import cut, pieces, plain
from flowd.redaction.redactor import redact

STEPS = 6
MAX_OUTLINE = 10

_PREFACE = re.compile(
    r"^(?:please )?(?:implement|execute|follow|carry out) (?:the following|this|the) plan:?\s*", re.IGNORECASE
)
_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)
_TITLE_PREFIX = re.compile(r"^(?:implementation )?plan(?: for)?\s*[:—-]\s*", re.IGNORECASE)
_NUMBERED_HEADING = re.compile(
    r"^#{2,4}\s+(?:(?:step|phase|task|part)\s+)?\d{1,2}\s*[.:)—-]+\s*(.+)$", re.MULTILINE | re.IGNORECASE
)
_STEPS = re.compile(r"\b(?:steps?|plan|tasks|phases|implementation|changes|order)\b", re.IGNORECASE)
_CHECKING = re.compile(r"verif|test plan|testing|validation", re.IGNORECASE)


def is_plan(prompt: str) -> bool:
    """Return True if a prompt contains a plan to implement."""
    return _PREFACE.match(prompt) is not None


def title(plan: str) -> str:
    """Return the title of a plan, or its first line."""
    text = _PREFACE.sub("", plan.strip())
    found = _TITLE.search(text)
    line = found.group(1) if found else text.split("\n", 1)[0]
    return cut(redact(_TITLE_PREFIX.sub("", plain(line))), 200)


def outline(plan: str) -> list[str]:
    """Return the steps of a plan: its numbered headings, else the numbered items of its section on steps."""
    headings = [_step_text(match) for match in _NUMBERED_HEADING.finditer(plan)]
    if len(headings) > 1:
        return headings[:MAX_OUTLINE]
    steps: list[str] = []
    inside = False
    for piece in pieces(plan):
        if piece.is_heading:
            inside = _STEPS.search(piece.text) is not None
        elif inside and piece.is_item and piece.text[:1].isdigit():
            steps.append(cut(redact(plain(piece.text)), 200))
    return steps[:MAX_OUTLINE]


def _step_text(heading: re.Match[str]) -> str:
    return cut(redact(plain(heading.group(1))), 200)


def verification(plan: str) -> list[str]:
    """Return the steps of the plan's verification section."""
    steps: list[str] = []
    inside = False
    for piece in pieces(plan):
        if piece.is_heading:
            inside = _CHECKING.search(piece.text) is not None
        elif inside:
            steps.append(cut(redact(plain(piece.text)), 200))
    return steps[:STEPS]
