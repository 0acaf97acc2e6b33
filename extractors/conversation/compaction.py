"""Parse the client's summary of a compacted conversation: its numbered sections."""

import re

import msgspec

from flowd.extractors.text import cut_at_sentence, pieces, plain
from flowd.redaction.redactor import redact

SECTION_LENGTH = 700
ITEMS = 6

_HEADING = re.compile(
    r"^\s*(?:#+\s*)?(?:\*\*)?\d{1,2}\.\s+(?:\*\*)?([A-Z][A-Za-z &/]+?)(?:\*\*)?:(?:\*\*)?[ \t]*", re.MULTILINE
)
_ENDING = re.compile(
    r"\n\s*(?:</summary>|Please continue the conversation|If you need specific|Continue the conversation)"
)
_NOTHING = re.compile(r"^(?:none|no pending|n/a|nothing)\b", re.IGNORECASE)


class Summary(msgspec.Struct):
    """The parts of a compaction summary that extractors use."""

    request: str = ""
    current: str = ""
    next_step: str = ""
    pending: list[str] = []
    fixes: list[str] = []
    at: int = 0


def read(text: str, at: int) -> Summary:
    """Parse the numbered sections of *text*; *at* is the number of its record."""
    sections = _sections(redact(_ENDING.split(text, maxsplit=1)[0]))
    return Summary(
        request=_prose(sections.get("primary request", "")),
        current=_prose(sections.get("current work", "")),
        next_step=_prose(sections.get("optional next", "") or sections.get("next step", "")),
        pending=_items(sections.get("pending tasks", "")),
        fixes=_items(sections.get("errors and", "")) + _items(sections.get("problem solving", "")),
        at=at,
    )


def _sections(text: str) -> dict[str, str]:
    """Return the sections by the first two words of their headings."""
    parts = _HEADING.split(text)
    return {
        " ".join(heading.lower().split()[:2]): body
        for heading, body in zip(parts[1::2], parts[2::2], strict=False)
    }


def _prose(section: str) -> str:
    words = " ".join(plain(piece.text) for piece in pieces(section))
    return cut_at_sentence(words, SECTION_LENGTH)


def _items(section: str) -> list[str]:
    found = [plain(piece.text) for piece in pieces(section)]
    return [cut_at_sentence(item, 300) for item in found if len(item) > 10 and not _NOTHING.match(item)][
        :ITEMS
    ]
