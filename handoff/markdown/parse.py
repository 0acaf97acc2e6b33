"""Parse a handoff document of any style; every text gives a Document."""

import codecs
import os
import re
from collections.abc import Iterator, Mapping

from flowd.handoff.errors import BrokenHandoffError
from flowd.handoff.markdown.document import (
    NO_PURPOSE,
    PURPOSE_CHARACTERS,
    Document,
    Kind,
    Section,
    SectionItem,
    count_boxes,
    escalations_in,
    headings_of,
    item,
    items_of,
    kind_of,
    sections_of,
)
from flowd.handoff.yaml.codec import parse
from flowd.system.files import read_head
from flowd.system.markdown import MarkdownLine, read_lines, split_front_matter, split_lines
from flowd.system.text import cut, one_line

_PLAIN = re.compile(r"(?P<key>[A-Za-z][A-Za-z _-]{0,30}):(?P<value>.*)")
_BOLD = re.compile(r"(?:[-*+] )?\*\*(?P<key>[A-Za-z][A-Za-z _-]{0,30})(?::\*\*|\*\*:)(?P<value>.*)")
_SOURCE = re.compile(
    r"flowd \((?P<trigger>[a-z-]+)\)(?: on (?P<branch>\S+)@(?P<commit>\w+))? in (?P<project>/.*)"
)

Metadata = dict[str, str]


def metadata_of(lines: list[str]) -> Metadata:
    """Return the ``key: value`` lines of *lines*; the first of a key counts, its value may hold colons."""
    found: Metadata = {}
    for line in lines:
        match = _PLAIN.fullmatch(line.strip()) or _BOLD.fullmatch(line.strip())
        if match:
            value = match["value"].strip().strip("`").strip()
            found.setdefault(_key(match["key"]), value)
    return found


def flattened(mapping: Mapping[str, object]) -> Metadata:
    """Return the plain values of parsed YAML, those one level down as well."""
    found = {_key(key): str(value) for key, value in mapping.items() if isinstance(value, str | int | float)}
    for inner in mapping.values():
        if isinstance(inner, Mapping):
            for key, value in inner.items():
                if isinstance(value, str):
                    found.setdefault(_key(key), value)
    return found


def first_of(metadata: Metadata, *keys: str) -> str:
    """Return the first value that is not empty."""
    return next((metadata[key] for key in keys if metadata.get(key)), "")


def with_source(metadata: Metadata) -> Metadata:
    """Return *metadata* with what flowd's own ``source:`` line holds spelt out."""
    match = _SOURCE.fullmatch(metadata.get("source", ""))
    if match is None:
        return metadata
    return {key: value for key, value in match.groupdict().items() if value} | metadata


def source_line(trigger: str, branch: str, commit: str, project: str) -> str:
    """Return the value of the ``source:`` line: trigger, branch, commit and project."""
    at = f" on {branch}@{commit or 'unknown'}" if branch and " " not in branch else ""
    return f"flowd ({trigger}){at} in {project}"


def _key(key: str) -> str:
    return key.strip().casefold().replace(" ", "_").replace("-", "_")


_TOP_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_HEADING = re.compile(r"#{1,6} \S")
_DESCRIPTION_KEYS = ("task", "step", "item", "description", "summary", "title", "name", "text")


def is_yaml(lines: list[str]) -> bool:
    """Return True if *lines* look like the keys of one mapping and not like markdown."""
    spoken = [line for line in lines if line.strip()]
    first = next((line for line in spoken if not line.startswith("#")), "")
    if not _TOP_KEY.fullmatch(first) or any(_HEADING.match(line) for line in spoken[1:]):
        return False
    # A title above plain metadata is markdown; a comment above lists and blocks is not.
    is_titled = _HEADING.match(spoken[0]) and not any(line[:1] in " \t-" for line in spoken)
    return not is_titled and all(_TOP_KEY.fullmatch(line) or line[:1] in " \t-#]})" for line in spoken)


def front_matter(lines: list[str]) -> Metadata:
    """Return the plain values of front matter, even if it is not valid YAML."""
    mapping = _parsed(lines)
    return metadata_of(lines) if mapping is None else flattened(mapping)


def yaml_sections(lines: list[str]) -> tuple[Section, ...]:
    """Return the keys of a YAML handoff that announce something known, each as a section."""
    mapping = _parsed(lines)
    pairs = _by_line(lines) if mapping is None else _by_key(mapping)
    return tuple(
        Section(kind, key, "\n".join(f"- {entry.text}" for entry in items), items)
        for key, items in pairs
        if items and (kind := kind_of(key.replace("-", " ")))
    )


def _parsed(lines: list[str]) -> Mapping[str, object] | None:
    try:
        return parse("\n".join(lines).encode()).mapping or {}
    except BrokenHandoffError:
        return None


def _by_key(mapping: Mapping[str, object]) -> Iterator[tuple[str, tuple[SectionItem, ...]]]:
    for key, value in mapping.items():
        entries = value if isinstance(value, list) else _entries(value)
        yield key, tuple(item(text) for entry in entries if (text := _entry_text(entry)))


def _entries(value: object) -> list[object]:
    return [{key: inner} for key, inner in value.items()] if isinstance(value, Mapping) else [value]


def _entry_text(value: object) -> str:
    """Return *value* as one line; of a mapping the description comes first."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key not in _DESCRIPTION_KEYS)
        parts = [
            _entry_text(value[key]) if key in _DESCRIPTION_KEYS else f"{key}: {_entry_text(value[key])}"
            for key in keys
        ]
        return "; ".join(filter(None, parts))
    if isinstance(value, list):
        return ", ".join(filter(None, map(_entry_text, value)))
    return "" if value is None else one_line(str(value))


def _by_line(lines: list[str]) -> Iterator[tuple[str, tuple[SectionItem, ...]]]:
    starts = [number for number, line in enumerate(lines) if _TOP_KEY.fullmatch(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        match = _TOP_KEY.fullmatch(lines[start])
        if match:
            own = [item(match[2])] if match[2] and match[2].strip() not in ("|", ">", "|-", ">-") else []
            yield match[1], (*own, *items_of(read_lines(lines[start + 1 : end])))


MAX_READ_BYTES = 1 << 20
TITLE_CHARACTERS = 100
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_EMPTY_TITLE = re.compile(
    r"(?:session )?(?:handoff|checkpoint)[\W_]*(?:\d{4}-\d{2}-\d{2})?[\W_]*(?:auto)?[\W_]*", re.I
)
_TITLE_LEAD = re.compile(r"^(?:session )?handoff[\s:—–-]+", re.I)


def read_document(text: str) -> Document:
    """Parse *text* in the contract's, humanlayer's, Continuous-Claude's or a free style."""
    front, body = split_front_matter(split_lines(text))
    metadata, lines = front_matter(front), read_lines(body)
    if is_yaml(body):
        metadata = metadata | front_matter(body)
        return _document(text, "", metadata, yaml_sections(body), lines)
    headings = headings_of(lines)
    title = next((heading.text for heading in headings if heading.level == 1), "")
    first_section = next((heading.line for heading in headings if heading.level > 1), len(lines))
    head = [line.raw for line in lines[:first_section] if line.kind not in ("fence", "code")]
    return _document(text, title, metadata_of(head) | metadata, sections_of(lines), lines)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the beginning of the file at *path*, at most a megabyte; raise if it is not a regular file."""
    return read_head(path, MAX_READ_BYTES)


def decoded(data: bytes) -> str:
    """Decode *data*; bytes that are not text become replacement characters."""
    if data.startswith(_UTF16):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")


def _document(
    text: str, title: str, metadata: Metadata, sections: tuple[Section, ...], lines: list[MarkdownLine]
) -> Document:
    metadata = with_source(metadata)
    ticked, boxes = count_boxes(lines)
    project = first_of(metadata, "cwd", "project")
    return Document(
        title=title,
        session_id=first_of(metadata, "session_id", "session"),
        purpose=_purpose(title, metadata, sections),
        trigger=first_of(metadata, "trigger"),
        branch=first_of(metadata, "branch", "git_branch"),
        commit=first_of(metadata, "commit", "git_commit"),
        project=project if os.path.isabs(project) else "",  # noqa: PTH117 a string is wanted
        timestamp=first_of(metadata, "timestamp") if "track_id" in metadata else "",
        is_auto=title.casefold().endswith("(auto)"),
        sections=sections,
        escalations=escalations_in(text),
        ticked=ticked,
        boxes=boxes,
    )


def _purpose(title: str, metadata: Metadata, sections: tuple[Section, ...]) -> str:
    """Return the stated purpose, else the words of the title, else the first thing done."""
    if stated := first_of(metadata, "purpose", "topic", "summary", "goal"):
        return one_line(stated)
    in_track = "track_id" in metadata  # its title names the track and the trigger
    if in_track and (context := _first_item(sections, "context")):
        return context
    if not in_track and title and not _EMPTY_TITLE.fullmatch(title[:TITLE_CHARACTERS]):
        return _TITLE_LEAD.sub("", title)
    return _first_item(sections, "done") or _first_item(sections, "context") or NO_PURPOSE


def _first_item(sections: tuple[Section, ...], kind: Kind) -> str:
    first = next((item.text for section in sections if section.kind == kind for item in section.items), "")
    return cut(first, PURPOSE_CHARACTERS)
