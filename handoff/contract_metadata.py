"""What a document says about itself above its sections: front matter, ``key: value`` lines, bold ones."""

import re
from collections.abc import Mapping

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
    """Return the value of the ``source:`` line that says where a handoff of flowd comes from."""
    at = f" on {branch}@{commit or 'unknown'}" if branch and " " not in branch else ""
    return f"flowd ({trigger}){at} in {project}"


def _key(key: str) -> str:
    return key.strip().casefold().replace(" ", "_").replace("-", "_")
