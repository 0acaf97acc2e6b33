"""Redaction of plain data: only what is new, so that a person's own words in their file stay theirs."""

from collections.abc import Callable, Mapping
from typing import Any

from flowd.handoff.document import Handoff
from flowd.handoff.plain import is_same, plain_mapping
from flowd.handoff.timestamps import is_moment

Redact = Callable[[str], str]


def news_cleaned(wanted: Mapping[str, object], present: Handoff | None, redact: Redact) -> Handoff:
    """Return *wanted* made plain, with secrets masked in every value that *present* does not already hold."""
    known = present or {}
    cleaned: Handoff = {}
    for key, value in wanted.items():
        if key in known and is_same(known[key], value):
            cleaned[key] = known[key]
        elif isinstance(value, str) and is_moment(value):
            cleaned[key] = value
        else:
            for name, news in plain_mapping({key: value}).items():
                cleaned[name] = _news(name, news, known.get(name), redact)
    return cleaned


def redact_data(value: Any, redact: Redact, name: str = "") -> Any:
    """Return plain *value* with secrets masked in all its texts; *name* is the key it stands under."""
    if isinstance(value, str):
        return _redact_text(value, name, redact)
    if isinstance(value, dict):
        return {key: redact_data(item, redact, key) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_data(item, redact, name) for item in value]
    return value


def _news(key: str, value: object, present: object, redact: Redact) -> object:
    if value == present:
        return value
    if isinstance(value, list) and isinstance(present, list):
        return [item if item in present else redact_data(item, redact, key) for item in value]
    return redact_data(value, redact, key)


def _redact_text(text: str, name: str, redact: Redact) -> str:
    # The key is part of the evidence: a bare word is a secret when it stands under ``password``.
    label = f"{name}: "
    labelled = redact(label + text)
    return labelled.removeprefix(label) if labelled.startswith(label) else redact(text)
