"""What a subagent reports when it is done: the files it says it edited."""

import re

MOST = 20
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
    """Return the report inside a notification that a background task is done; empty when there is none."""
    if not text.startswith(_NOTIFICATION):
        return ""
    return text.partition("<result>")[2].partition("</result>")[0]


def edited_in(report: str) -> list[str]:
    """Return the paths that *report* lists as edited files, or says that it edited."""
    found: list[str] = []
    above = ""
    for line in report.split("\n"):
        bare = line.lstrip()
        is_item = bare.startswith(ITEMS)
        above = above if is_item or not bare else bare
        # Few lines name a path: the others need no look at their words.
        path = _PATH.search(bare) if "`" in bare and "/" in bare else None
        if path and (
            (is_item and _HEADING.search(above, 0, MAX_HEADING_CHARACTERS)) or _EDITING.search(bare)
        ):
            found.append(path.group(1))
    return list(dict.fromkeys(found))[:MOST]
