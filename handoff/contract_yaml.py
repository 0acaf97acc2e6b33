"""Handoffs written as YAML: front matter, then a second document, or all in one; broken ones by line."""

import re
from collections.abc import Iterator, Mapping

from flowd.handoff.contract import Item, Section
from flowd.handoff.contract_kinds import kind_of
from flowd.handoff.contract_metadata import Metadata, flattened, metadata_of
from flowd.handoff.errors import BrokenHandoffError
from flowd.handoff.markdown_items import item, items_of
from flowd.handoff.yaml_text import parse

_FENCE = "---"
_TOP_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:[ \t]+(.*))?")
_HEADING = re.compile(r"#{1,6} \S")
_WHATS_SAID = ("task", "step", "item", "description", "summary", "title", "name", "text")


def split_front_matter(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the front matter of *lines* and the rest; no front matter when it is not closed."""
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    if start >= len(lines) or lines[start].strip() != _FENCE:
        return [], lines
    end = next((n for n in range(start + 1, len(lines)) if lines[n].strip() in (_FENCE, "...")), None)
    return ([], lines) if end is None else (lines[start + 1 : end], lines[end + 1 :])


def is_yaml(lines: list[str]) -> bool:
    """Say whether *lines* look like the keys of one mapping and not like markdown."""
    spoken = [line for line in lines if line.strip()]
    first = next((line for line in spoken if not line.startswith("#")), "")
    if not _TOP_KEY.fullmatch(first) or any(_HEADING.match(line) for line in spoken[1:]):
        return False
    # A title above plain metadata is markdown; a comment above lists and blocks is not.
    is_titled = _HEADING.match(spoken[0]) and not any(line[:1] in " \t-" for line in spoken)
    return not is_titled and all(_TOP_KEY.fullmatch(line) or line[:1] in " \t-#]})" for line in spoken)


def front_matter(lines: list[str]) -> Metadata:
    """Return the plain values of front matter, also of one that is no valid YAML."""
    mapping = _parsed(lines)
    return metadata_of(lines) if mapping is None else flattened(mapping)


def yaml_sections(lines: list[str]) -> tuple[Section, ...]:
    """Return the keys of a YAML handoff that announce something known, each as a section."""
    mapping = _parsed(lines)
    pairs = _by_line(lines) if mapping is None else _by_key(mapping)
    return tuple(
        Section(kind, key, "\n".join(f"- {entry.text}" for entry in items), items)
        for key, items in pairs
        if items and (kind := kind_of(key.replace("_", " ").replace("-", " ")))
    )


def _parsed(lines: list[str]) -> Mapping[str, object] | None:
    try:
        return parse("\n".join(lines).encode()).mapping or {}
    except BrokenHandoffError:
        return None


def _by_key(mapping: Mapping[str, object]) -> Iterator[tuple[str, tuple[Item, ...]]]:
    for key, value in mapping.items():
        entries = value if isinstance(value, list) else _entries(value)
        yield key, tuple(item(text) for entry in entries if (text := _said(entry)))


def _entries(value: object) -> list[object]:
    return [{key: inner} for key, inner in value.items()] if isinstance(value, Mapping) else [value]


def _said(value: object) -> str:
    """Return *value* as one line: of a mapping the part that says what, with the rest behind it."""
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key not in _WHATS_SAID)
        parts = [_said(value[key]) if key in _WHATS_SAID else f"{key}: {_said(value[key])}" for key in keys]
        return "; ".join(filter(None, parts))
    if isinstance(value, list):
        return ", ".join(filter(None, map(_said, value)))
    return "" if value is None else " ".join(str(value).split())


def _by_line(lines: list[str]) -> Iterator[tuple[str, tuple[Item, ...]]]:
    starts = [number for number, line in enumerate(lines) if _TOP_KEY.fullmatch(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        match = _TOP_KEY.fullmatch(lines[start])
        if match:
            own = [item(match[2])] if match[2] and match[2].strip() not in ("|", ">", "|-", ">-") else []
            yield match[1], (*own, *items_of(lines[start + 1 : end]))
