"""Freeform handoff notes into a block: by their headings, their check boxes and the specification's cues."""

import re
from typing import NamedTuple

from flowd.handoff.block import Block, Outcome, Violation
from flowd.handoff.block_draft import Draft
from flowd.handoff.block_find import blocks_in_markdown, bodies
from flowd.handoff.block_from_yaml import fields_of, fill
from flowd.handoff.block_layout import layout_of
from flowd.handoff.block_notes import passages
from flowd.handoff.block_prompt import prompt_comment
from flowd.handoff.block_rules import check_body
from flowd.handoff.block_text import HEADING, block_yaml
from flowd.handoff.redaction import redact

# Notes of people are far smaller; what is larger is a log, and a log is not a handoff.
LARGEST_NOTES = 256 * 1024

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)---[ \t]*\n", re.DOTALL)
_SAID = re.compile(r"^[^\w\n]{0,6}(outcome|status)\W{0,4}:\W{0,6}([^\n]{2,120})", re.I | re.M)
# Where a document says how it stands; a status further down is of one of its parts.
_HEAD = 2000
_OUTCOMES: list[tuple[Outcome, str]] = [
    ("blocked", r"\bblocked\b"),
    ("failed", r"\bfail"),
    ("partial", r"partial|in[ _-]progress|wip|ongoing|need|pending|remaining|not yet"),
    ("completed", r"complete|done|succe|shipped|finished|merged|final"),
]


class Migrated(NamedTuple):
    """The block that notes became, what is doubtful about it, and the document with its section inside."""

    block: Block
    is_outcome_stated: bool
    violations: tuple[Violation, ...]
    doubts: tuple[str, ...]
    section: str
    document: str


def migrate(text: str, outcome: Outcome | None = None) -> Migrated | None:
    """Return what the notes in *text* become, free of secrets, None when they hold a block already.

    *outcome* is a person's word on how it ended; without it the notes' own counts, and then a guess.
    """
    text = text[:LARGEST_NOTES].replace("\r\n", "\n")
    if any(found.block for found in blocks_in_markdown(text)):
        return None
    draft = Draft()
    clean = redact(text)  # before the words become YAML: a mask would read as a list there
    front = _FRONT_MATTER.match(clean)
    notes = clean[front.end() :] if front else clean
    fields = fields_of(notes)
    if fields is not None:
        fill(draft, fields)
    else:
        for passage in passages(notes):
            draft.take(passage)
    stated = outcome or _stated_outcome(text)
    doubts = [] if stated else ["outcome: the notes state none; this one is a guess"]
    block = draft.block(stated or ("partial" if draft["blockers"] else "completed"))
    violations = check_body(block_yaml(block), 1).violations
    comment = prompt_comment(draft.unplaced, doubts)
    section = f"```yaml\n{block_yaml(block)}```\n{comment}"
    document = _placed(text, section)
    return Migrated(
        block, stated is not None, violations, (*doubts, *draft.unplaced), f"{HEADING}\n\n{section}", document
    )


def _stated_outcome(text: str) -> Outcome | None:
    # An outcome says more than a status, wherever it stands.
    for _, said in sorted(_SAID.findall(text[:_HEAD]), key=lambda pair: pair[0].casefold()):
        for outcome, pattern in _OUTCOMES:
            if re.search(pattern, said, re.IGNORECASE):
                return outcome
    return None


def _placed(text: str, section: str) -> str:
    """Return *text* with *section* in place of a template, below an own heading, or at its end."""
    layout = layout_of(text)
    for body in bodies(text, layout):
        fence = next((each for each in layout.fences if each.body <= body.start < each.end), None)
        if fence is not None:
            after = text.find("\n", fence.end) + 1
            return text[: fence.start] + section + (text[after:] if after else "")
    for heading in layout.headings:
        if (
            heading.title.casefold() in ("handoff", "handoff notes")
            and heading.fence < 0
            and heading.level > 1
        ):
            return f"{text[: heading.end]}\n\n{section}\n{text[heading.end :].lstrip()}"
    return f"{text.rstrip()}\n\n{HEADING}\n\n{section}"
