"""Convert freeform handoff notes to a block by headings, check boxes and the cues of the specification."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from flowd.handoff.block.fields import Mapping, Scalar, Sequence, Tree, parse_tree
from flowd.handoff.block.find import blocks_in_markdown, bodies
from flowd.handoff.block.from_notes.draft import BlockDraft
from flowd.handoff.block.from_notes.passages import passages
from flowd.handoff.block.from_notes.words import says_nothing
from flowd.handoff.block.parse import check_body
from flowd.model.block import FIELDS, HandoffBlock, Outcome, Violation
from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.markdown import outline_of, split_front_matter, split_lines
from flowd.system.yaml_text import YamlTextError

KNOWN = frozenset(
    "goal now done_this_session blockers questions decisions findings worked failed next files".split()
)
ENOUGH = 3


def fields_of(text: str) -> dict[str, Tree] | None:
    """Return the fields of *text* when it is YAML of that shape, else None."""
    try:
        tree = parse_tree(text, 1)
    except YamlTextError:
        return None
    if not isinstance(tree, Mapping):
        return None
    fields = {key.text: value for key, value in tree.pairs}
    return fields if len(KNOWN & fields.keys()) >= ENOUGH else None


def fill(draft: BlockDraft, fields: dict[str, Tree]) -> None:
    """Put *fields* into *draft*."""
    adding = {
        "blockers": draft.add_blocker,
        "questions": draft.add_question,
        "decisions": draft.add_pattern,
        "findings": draft.add_pattern,
        "worked": draft.add_pattern,
        "failed": draft.add_gotcha,
        "next": draft.add_step,
    }
    _fill_files(draft, fields.get("files"))
    for name, add in adding.items():
        for text in _texts(fields.get(name)):
            add(text)
    for text in _texts(fields.get("done_this_session")):
        draft.add_files(text)


def _fill_files(draft: BlockDraft, tree: Tree | None) -> None:
    if isinstance(tree, Mapping):
        for key, value in tree.pairs:
            for text in _texts(value):
                draft.add_files(text, created=key.text == "created")
    else:
        for text in _texts(tree):
            draft.add_files(text)


def _texts(tree: Tree | None) -> Iterator[str]:
    """Yield each entry as one text: a list's items, or a mapping's ``key: value`` pairs."""
    if isinstance(tree, Sequence):
        entries = [_flat(item) for item in tree.items]
    elif isinstance(tree, Mapping):
        entries = [_pair(key, value) for key, value in tree.pairs]
    else:
        entries = [_flat(tree)] if tree is not None else []
    yield from (entry for entry in entries if entry and not says_nothing(entry))


def _flat(tree: Tree) -> str:
    if isinstance(tree, Scalar):
        return "" if tree.is_null else tree.text.strip()
    if isinstance(tree, Sequence):
        return ", ".join(_flat(item) for item in tree.items)
    return "; ".join(_pair(key, value) for key, value in tree.pairs)


def _pair(key: Scalar, value: Tree) -> str:
    text = _flat(value)
    return f"{key.text.replace('_', ' ')}: {text}" if text else ""


MAX_ASKED_CHARACTERS = 4000

TEMPLATE = """\
outcome: [completed | partial | failed | blocked]

files_created:
  - path: [path]
    purpose: [purpose]
    lines: [range]

files_modified:
  - path: [path]
    lines: [range]
    change_type: [type]
    description: [description]

patterns_discovered:
  - pattern: [pattern description]
    location: [where]
    applies_to: [tags]

gotchas:
  - issue: [issue]
    discovered_in: [context]
    mitigation: [how to avoid]
    severity: [high | medium | low]

dependencies_for_next:
  - file: [path]
    reason: [why needed]

suggested_next_steps:
  - step: [what to do]
    priority: [high | medium | low]
    depends_on: [dependencies]
"""


def prompt_comment(unplaced: list[str], doubts: list[str]) -> str:
    """Return the comment that asks an agent to structure what is ambiguous; empty when nothing is."""
    if not unplaced and not doubts:
        return ""
    notes = "\n\n".join([*doubts, *unplaced])[:MAX_ASKED_CHARACTERS]
    # Two hyphens would end the comment early in some readers, and a heading could be taken for a block's.
    safe = notes.replace("--", "—").replace("\n#", "\n #")
    return f"\n<!--\nPlease structure this handoff note:\n{safe}\n\nInto this format:\n{TEMPLATE}-->\n"


HEADING = "## Handoff"
_NEVER_FOLD = 1_000_000


def block_yaml(block: HandoffBlock) -> str:
    """Return *block* as YAML without its empty fields, in the order of the specification."""
    import yaml

    fields: dict[str, Any] = msgspec.to_builtins(block)
    ordered = {name: fields[name] for name in FIELDS if name in fields}
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    parts = [
        yaml.dump({name: value}, Dumper=dumper, allow_unicode=True, sort_keys=False, width=_NEVER_FOLD)
        for name, value in ordered.items()
    ]
    return "\n".join(parts)


# Notes of people are far smaller; what is larger is a log, and a log is not a handoff.
MAX_NOTES = 256 * 1024

_STATED = re.compile(r"^[^\w\n]{0,6}(outcome|status)\W{0,4}:\W{0,6}([^\n]{2,120})", re.I | re.M)
# Where a document states its outcome; a status further down belongs to a part of it.
_HEAD = 2000
_OUTCOMES: list[tuple[Outcome, str]] = [
    ("blocked", r"\bblocked\b"),
    ("failed", r"\bfail"),
    ("partial", r"partial|in[ _-]progress|wip|ongoing|need|pending|remaining|not yet"),
    ("completed", r"complete|done|succe|shipped|finished|merged|final"),
]


class Migrated(NamedTuple):
    """The block made of notes, warnings about it, and the document with its section inserted."""

    block: HandoffBlock
    is_outcome_stated: bool
    violations: tuple[Violation, ...]
    doubts: tuple[str, ...]
    section: str
    document: str


def migrate(text: str, outcome: Outcome | None = None, redact: Redact = redact) -> Migrated | None:
    """Return what the notes in *text* become, free of secrets, None when they hold a block already.

    *outcome* is the user's choice; without it the one in the notes is used, else a guess.
    """
    text = text[:MAX_NOTES].replace("\r\n", "\n")
    if any(found.block for found in blocks_in_markdown(text)):
        return None
    draft = BlockDraft()
    clean = redact(text)  # before the words become YAML: a mask would read as a list there
    _, below = split_front_matter(split_lines(clean))
    notes = "\n".join(below)
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
    # An outcome is more precise than a status, whichever comes first.
    for _, stated in sorted(_STATED.findall(text[:_HEAD]), key=lambda pair: pair[0].casefold()):
        for outcome, pattern in _OUTCOMES:
            if re.search(pattern, stated, re.IGNORECASE):
                return outcome
    return None


def _placed(text: str, section: str) -> str:
    """Return *text* with *section* in place of a template, below an own heading, or at its end."""
    outline = outline_of(text)
    for body in bodies(text, outline):
        fence = next((each for each in outline.fences if each.body <= body.start < each.end), None)
        if fence is not None:
            after = text.find("\n", fence.end) + 1
            return text[: fence.start] + section + (text[after:] if after else "")
    for heading in outline.headings:
        if (
            heading.title.casefold() in ("handoff", "handoff notes")
            and heading.fence < 0
            and heading.level > 1
        ):
            return f"{text[: heading.end]}\n\n{section}\n{text[heading.end :].lstrip()}"
    return f"{text.rstrip()}\n\n{HEADING}\n\n{section}"
