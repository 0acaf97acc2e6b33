"""Redaction of plain data: only what is new, so that a person's own words in their file stay theirs."""

from collections.abc import Callable
from typing import Any

Redact = Callable[[str], str]


def redact_data(value: Any, redact: Redact, name: str = "") -> Any:
    """Return plain *value* with secrets masked in all its texts; *name* is the key it stands under."""
    if isinstance(value, str):
        return _redact_text(value, name, redact)
    if isinstance(value, dict):
        return {key: redact_data(item, redact, key) for key, item in value.items()}
    if isinstance(value, list):
        return [redact_data(item, redact, name) for item in value]
    return value


def _redact_text(text: str, name: str, redact: Redact) -> str:
    # The key is part of the evidence: a bare word is a secret when it stands under ``password``.
    label = f"{name}: "
    labelled = redact(label + text)
    return labelled.removeprefix(label) if labelled.startswith(label) else redact(text)
