"""Redaction of plain data: texts, lists and mappings, where the key above a value is part of the evidence."""

from collections.abc import Callable
from typing import Any

from flowd.redaction.keys import find_private_keys, has_private_key
from flowd.redaction.secret import MARK

Redact = Callable[[str], str]


def redact_data(value: Any, redact: Redact, name: str = "") -> Any:
    """Return plain *value* with secrets masked in its texts and keys; *name* is the key it stands under."""
    if isinstance(value, str):
        return _redact_text(value, name, redact)
    if isinstance(value, dict):
        return {_redact_key(key, redact): redact_data(item, redact, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [redact_data(item, redact, name) for item in _without_split_keys(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, int) and not isinstance(value, bool):
        return _redact_number(value, name, redact)
    return value


def _redact_text(text: str, name: str, redact: Redact) -> str:
    # A bare word is a secret when it stands under ``password``.
    label = f"{name}: "
    labelled = redact(label + text)
    return labelled.removeprefix(label) if labelled.startswith(label) else redact(text)


def _redact_number(number: int, name: str, redact: Redact) -> int | str:
    text = _redact_text(str(number), name, redact) if name else str(number)
    return text if text != str(number) else number


def _redact_key(key: Any, redact: Redact) -> Any:
    return redact(key) if isinstance(key, str) else key


def _without_split_keys(items: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Return *items* without the private key that is spread over several of them, a line each."""
    texts = [item if isinstance(item, str) else "" for item in items]
    if not any(map(has_private_key, texts)):
        return list(items)
    together = "\n".join(texts)
    keys = [(secret.start, secret.end) for secret in find_private_keys(together)]
    masked, start = [], 0
    for item, text in zip(items, texts, strict=True):
        masked.append(_outside(text, start, keys) if text else item)
        start += len(text) + 1
    return masked


def _outside(text: str, offset: int, spans: list[tuple[int, int]]) -> str:
    """Return *text*, which stands at *offset*, with the part that lies in one of *spans* masked."""
    for start, end in reversed(spans):
        first, last = max(0, start - offset), min(len(text), end - offset)
        if first < last:
            text = f"{text[:first]}{MARK}private-key]{text[last:]}"
    return text
