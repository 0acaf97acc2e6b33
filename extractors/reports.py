"""What a subagent reports when it is done: the files it says it edited."""

import re

MOST = 20
ITEMS = ("- ", "* ", "• ")

_RESULT = re.compile(r"<result>(.*?)(?:</result>|\Z)", re.DOTALL)
_PATH = re.compile(r"`([\w./@+~-]*/[\w.@+-]*\.\w{1,8})(?::\d[\d-]*)?`")
_HEADING = re.compile(
    r"\bfiles?\b.{0,20}\b(?:touched|changed|modified|edited|created|updated|written)\b", re.IGNORECASE
)
_EDITING = re.compile(
    r"\b(?:edited|modified|changed|updated|created|added|wrote|rewrote|fixed)\b[^`\n]{0,80}`", re.IGNORECASE
)


def notified(text: str) -> str:
    """Return the report inside a notification that a background task is done; empty when there is none."""
    found = _RESULT.search(text) if text.startswith("<task-notification>") else None
    return found.group(1) if found else ""


def edited_in(report: str) -> list[str]:
    """Return the paths that *report* lists as edited files, or says that it edited."""
    found: list[str] = []
    inside = False
    for line in report.split("\n"):
        if not line or line.isspace():
            continue
        is_item = line.lstrip()[:2] in ITEMS
        inside = inside if is_item else "ile" in line and _HEADING.search(line) is not None
        if "/" in line and "`" in line and ((inside and is_item) or _EDITING.search(line)):
            found += _PATH.findall(line)[:1]
    return list(dict.fromkeys(found))[:MOST]
