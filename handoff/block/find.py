"""Find handoff blocks in markdown: under a heading, fenced or bare, or in a fence with their heading."""

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

from flowd.handoff.block.fields import MAX_BODY_BYTES
from flowd.handoff.block.parse import Checked, check_body
from flowd.model.block import FIELDS, FoundBlock, TaskRef, Violation, digest
from flowd.system.markdown import Heading, Outline, outline_of

# Limits per file, so that no file can block the reader.
MAX_PARSED = 2 * MAX_BODY_BYTES
MAX_BODIES = 50
# How much is kept of a body that is not a valid block.
MAX_RAW_CHARACTERS = 4096
MAX_HEADINGS = 500
# How far below its heading, or the start of its fence, the first field of a block may be.
FARTHEST_KEY = 4096
YAML_NAMES = ("yaml", "yml")

_TITLE = re.compile(r"handoff(?: (?:notes?|block))?:?", re.IGNORECASE)
_TASK_TITLE = re.compile(r"Task[ \t]+#?([\w.-]{1,40}?)[ \t]*[:–—-][ \t]+(\S.*)", re.IGNORECASE)
_TASK_FILE = re.compile(r"(?:^|[/\\])task-([A-Za-z0-9]+)(?:-([^/\\]*))?\.(?:md|markdown)$", re.IGNORECASE)
_KNOWN_KEY = re.compile(rf"^[ \t]*(?:{'|'.join(FIELDS)})[ \t]*:", re.MULTILINE)
_BARE_LINE = re.compile(r"(?:[ \t]+[^\n]*|[a-z][a-z0-9_]*[ \t]*:[^\n]*|-[ \t][^\n]*|)(?:\n|\Z)")
_encode = msgspec.json.Encoder().encode


class Body(msgspec.Struct, frozen=True):
    """The offsets of a block's YAML in its text."""

    start: int
    end: int


def may_hold_block(text: str) -> bool:
    """Return False if *text* cannot hold a block, by a cheap test."""
    return "outcome:" in text and ("andoff" in text or "HANDOFF" in text)


def blocks_in_markdown(text: str, path: str = "") -> list[FoundBlock]:
    """Return the blocks of *text* in order, templates and quoted schemas left out; never raises.

    *path* is that of the file, if any: its name may contain the task's id.
    """
    if "andoff" not in text and "HANDOFF" not in text:
        return []
    text = text.replace("\r\n", "\n")
    outline = outline_of(text)
    found: list[FoundBlock] = []
    parsed = 0
    for body in islice(bodies(text, outline), MAX_BODIES):
        parsed += min(body.end - body.start, MAX_BODY_BYTES)
        checked = _checked(text, body, parsed)
        if not checked.is_template:
            found.append(_found(text, body, checked, task_of(outline, body.start, path), len(found)))
        if parsed > MAX_PARSED:
            break
    return found


def without_blocks(text: str) -> str:
    """Return *text* without its handoff blocks and their headings."""
    if not may_hold_block(text):
        return text
    outline = outline_of(text)
    kept, end = [], 0
    for body in islice(bodies(text, outline), MAX_BODIES):
        whole = _with_frame(body, outline)
        kept.append(text[end : max(end, whole.start)])
        end = whole.end
    return "".join([*kept, text[end:]])


def _with_frame(body: Body, outline: Outline) -> Body:
    """Return *body* with its heading and its fence."""
    heading = max((each.start for each in outline.headings if each.start < body.start), default=body.start)
    fence = next((each for each in outline.fences if each.body <= body.start < each.end), None)
    if fence is None:
        return Body(heading, body.end)
    closing = len("```\n") if fence.is_closed else 0
    return Body(min(heading, fence.start), fence.end + closing)


def bodies(text: str, outline: Outline) -> Iterator[Body]:
    """Yield the offsets of the YAML of each block under a handoff heading, templates included."""
    taken = -1
    titled = (pair for pair in enumerate(outline.headings) if _TITLE.fullmatch(pair[1].title))
    for number, heading in islice(titled, MAX_HEADINGS):
        body = _body_below(text, heading, number, outline) if heading.start >= taken else None
        if body is not None:
            taken = body.end
            yield body


def task_of(outline: Outline, before: int, path: str = "") -> TaskRef:
    """Return the task named by the nearest heading above *before*, or by the file."""
    for heading in outline.headings_before(before):
        if match := _TASK_TITLE.fullmatch(heading.title):
            return TaskRef(id=match[1], name=match[2].strip())
    match = _TASK_FILE.search(path)
    if match is None:
        return TaskRef()
    title = next((each.title for each in outline.headings if each.level == 1 and each.start < before), "")
    name = "" if _TITLE.fullmatch(title) else title
    return TaskRef(id=match[1], name=(match[2] or "").replace("-", " ") or name)


def _body_below(text: str, heading: Heading, number: int, outline: Outline) -> Body | None:
    around = outline.fences[heading.fence] if heading.fence >= 0 else None
    if around is not None and around.info in YAML_NAMES:
        key = _first_key(text, heading.end, around.end)
        return Body(key, around.end) if key >= 0 else None
    end = _section_end(text, heading, number, outline)
    return _bare(text, heading.end, outline.next_edge(heading.start, end)) or _fenced(
        text, heading, end, outline
    )


def _section_end(text: str, heading: Heading, number: int, outline: Outline) -> int:
    limit = outline.fences[heading.fence].end if heading.fence >= 0 else len(text)
    for index in range(number + 1, len(outline.headings)):
        later = outline.headings[index]
        if later.start >= limit:
            break
        if later.fence == heading.fence and (later.level <= heading.level or _TITLE.fullmatch(later.title)):
            return later.start
    return limit


def _bare(text: str, start: int, end: int) -> Body | None:
    """Return the unfenced YAML between *start* and *end*, if there is any."""
    key = position = _first_key(text, start, end)
    if key < 0:
        return None
    while position < end and position - key <= MAX_BODY_BYTES:
        line = _BARE_LINE.match(text, position, end)
        if line is None or line.end() == position:
            break
        position = line.end()
    return Body(key, position)


def _fenced(text: str, heading: Heading, end: int, outline: Outline) -> Body | None:
    for fence in outline.fences_between(heading.start, end):
        if fence.fence == heading.fence and fence.info in (*YAML_NAMES, ""):
            key = _first_key(text, fence.body, fence.end)
            if key >= 0:
                return Body(key, min(fence.end, end))
    return None


def _first_key(text: str, start: int, end: int) -> int:
    match = _KNOWN_KEY.search(text, start, min(end, start + FARTHEST_KEY))
    return match.start() if match else -1


def _checked(text: str, body: Body, parsed: int) -> Checked:
    line = _line(text, body.start)
    if parsed > MAX_PARSED:
        rule = f"the blocks of one file are longer than {MAX_PARSED // 1024} KB; the rest is not read"
        return Checked(None, (Violation(field="(block)", value="", rule=rule, line=line),), (), 0)
    return check_body(text[body.start : body.end], line)


def _found(text: str, body: Body, checked: Checked, task: TaskRef, ordinal: int) -> FoundBlock:
    raw = "" if checked.block else text[body.start : min(body.end, body.start + MAX_RAW_CHARACTERS)].strip()
    return FoundBlock(
        line=_line(text, body.start),
        ordinal=ordinal,
        digest=digest(raw or _encode(checked.block).decode()),
        block=checked.block,
        text=raw,
        usable=checked.usable,
        violations=checked.violations,
        task=task,
        completeness=checked.completeness,
        missing=checked.missing,
    )


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
