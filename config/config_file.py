"""Change one setting in the text of a config.yaml; comments and everything else stay as they are."""

import json
from typing import Any, NamedTuple

from flowd.system.errors import SettingsError
from flowd.system.yaml_text import load_yaml

INDENT = "  "


class _Entry(NamedTuple):
    """A key and its value in the text: where the key starts, where the value starts and ends."""

    start: int
    value_start: int
    value_end: int
    node: Any


def with_value(text: str, key: str, value: Any) -> str:
    """Return *text* with the setting *key* (``section.name``) set to *value*; *text* is valid."""
    section, _, name = key.partition(".")
    sections = _entries(text, None)
    written = _written(value)
    if section not in sections:
        return f"{_ended(text)}{section}:\n{INDENT}{name}: {written}\n"
    outer = sections[section]
    names = _entries(text, outer.node)
    if name in names:
        found = names[name]
        return text[: found.value_start] + _spaced(text, found, written) + text[found.value_end :]
    if names:
        first = min(names.values()).start
        margin = text[text.rfind("\n", 0, first) + 1 : first]
        _refuse_flow_style(margin, section)
        return f"{text[:first]}{name}: {written}\n{margin}{text[first:]}"
    line_end = text.find("\n", outer.start)
    line_end = len(text) if line_end < 0 else line_end
    return f"{text[:line_end]}\n{INDENT}{name}: {written}{text[line_end:]}"


def without_value(text: str, key: str) -> str:
    """Return *text* without the setting *key*; its section stays, empty sections are valid."""
    section, _, name = key.partition(".")
    outer = _entries(text, None).get(section)
    found = _entries(text, outer.node).get(name) if outer else None
    if found is None:
        return text
    start = text.rfind("\n", 0, found.start) + 1
    _refuse_flow_style(text[start : found.start], section)
    end = text.find("\n", max(found.start, found.value_end - 1))
    return text[:start] + (text[end + 1 :] if end >= 0 else "")


def parsed_value(text: str) -> Any:
    """Return the value that *text* means in YAML."""
    return load_yaml(text)


def _entries(text: str, node: Any) -> dict[str, _Entry]:
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader) if node is None else node
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {
        str(key.value): _Entry(key.start_mark.index, value.start_mark.index, value.end_mark.index, value)
        for key, value in node.value
    }


def _written(value: Any) -> str:
    """Return *value* as YAML on one line."""
    if isinstance(value, str) and value and value.isidentifier() and load_yaml(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _spaced(text: str, entry: _Entry, written: str) -> str:
    """Return *written* with the white space that replacing a block or an empty value needs."""
    before = "" if text[entry.value_start - 1 : entry.value_start] in (" ", "\t") else " "
    if "\n" in text[entry.value_start : entry.value_end]:
        return f"{before}{written}\n"
    return before + written


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else text + "\n"


def _refuse_flow_style(margin: str, section: str) -> None:
    if margin.strip():
        raise SettingsError(
            f"{section} is written on one line, in braces", hint="change it with `flowd config edit`"
        )
