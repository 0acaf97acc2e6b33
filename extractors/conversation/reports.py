"""Reports of subagents: the files that they list as edited."""

import re

MAX_PATHS = 20
MAX_HEADING_CHARACTERS = 1000
ITEMS = ("- ", "* ", "• ")

_NOTIFICATION = "<task-notification>"
_PATH = re.compile(r"`([\w./@+~-]*/[\w.@+-]*\.\w{1,8})(?::\d[\d-]*)?`")
_HEADING = re.compile(
    r"\bfiles?\b.{0,20}\b(?:touched|changed|modified|edited|created|updated|written)\b", re.IGNORECASE
)
_EDITING = re.compile(
    r"\b(?:edited|modified|changed|updated|created|added|wrote|rewrote|fixed)\b[^`\n]{0,80}`", re.IGNORECASE
)


def notified(text: str) -> str:
    """Return the report in the notification of a finished background task, empty if there is none."""
    if not text.startswith(_NOTIFICATION):
        return ""
    return text.partition("<result>")[2].partition("</result>")[0]


def edited_in(report: str) -> list[str]:
    """Return the paths that *report* lists under a heading such as "Files changed" or names as edited."""
    found: list[str] = []
    above = ""
    for line in report.split("\n"):
        bare = line.lstrip()
        is_item = bare.startswith(ITEMS)
        above = above if is_item or not bare else bare
        # Few lines contain a path: skip the expensive patterns for the others.
        path = _PATH.search(bare) if "`" in bare and "/" in bare else None
        if path and (
            (is_item and _HEADING.search(above, 0, MAX_HEADING_CHARACTERS)) or _EDITING.search(bare)
        ):
            found.append(path.group(1))
    return list(dict.fromkeys(found))[:MAX_PATHS]
