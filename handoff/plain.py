"""Plain data: what YAML and JSON both hold, copied and bounded."""

import os
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from flowd.handoff.errors import HandoffValidationError
from flowd.handoff.timestamps import as_utc_text

DEEPEST = 32
MOST_VALUES = 20_000
_SCALARS = frozenset({type(None), bool, int, float})


def plain_mapping(data: Mapping[Any, object]) -> dict[str, object]:
    """Return a deep copy of *data* made of plain values only; raise on anything else, cycles included."""
    budget = [MOST_VALUES]
    return {_key(key): _plain(value, str(key), DEEPEST, budget) for key, value in data.items()}


def copied(value: Any) -> Any:
    """Return a deep copy of *value*, which is plain already."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def is_same(one: object, other: object) -> bool:
    """Tell at a glance whether two plain values are the same; ``1`` and ``True`` are equal, and are not."""
    if type(one) is not type(other) or one != other:
        return False
    return not isinstance(one, dict) and (not isinstance(one, list) or _are_texts(one))


def _are_texts(items: list[object]) -> bool:
    return all(type(item) is str for item in items)


def _plain(value: object, field: str, depth: int, budget: list[int]) -> object:
    budget[0] -= 1
    if depth < 0 or budget[0] < 0:
        raise HandoffValidationError(f"Too deep or too many values in field: {field}")
    if isinstance(value, str):
        return whole_text(value)
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, field, depth - 1, budget) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, field, depth - 1, budget) for item in value]
    return _text_of(value, field)


def whole_text(text: str) -> str:
    """Return *text* with halves of surrogate pairs joined or replaced, so that it can be encoded."""
    if text.isascii():
        return str.__str__(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return str.__str__(text)


def _text_of(value: object, field: str) -> str:
    if isinstance(value, datetime):
        return as_utc_text(value) or value.isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, os.PathLike):
        return whole_text(os.fsdecode(value))
    raise HandoffValidationError(f"Cannot write a {type(value).__name__} in field: {field}")


def _key(key: object) -> str:
    return whole_text(key if isinstance(key, str) else str(key))
