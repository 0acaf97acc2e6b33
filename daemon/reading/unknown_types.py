"""Record types that this version does not know, counted by name: a bounded number of plain names."""

import re
from collections.abc import Mapping

from flowd.store.journal import Batch

MAX_NAMES = 20
OTHERS = "other"
_PREFIX = "unknown_type:"
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")


class UnknownTypes:
    """The names that have counters; what comes after the last of them is counted together."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def load(self, totals: Mapping[str, int]) -> None:
        """Start with the names that core.db has counters for."""
        self._names = set(count_by_name(totals)) - {OTHERS}

    def count(self, found: Mapping[str, int], batch: Batch) -> None:
        """Add what was *found* to the counters of *batch*."""
        for name, number in found.items():
            batch.counters[_PREFIX + self._counted_as(name)] += number

    def _counted_as(self, name: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(name) is not None
        if not is_plain or (name not in self._names and len(self._names) >= MAX_NAMES):
            return OTHERS
        self._names.add(name)
        return name


def count_by_name(totals: Mapping[str, int]) -> dict[str, int]:
    """Return the unknown types among the counters *totals*, the most frequent first."""
    found = [(name.removeprefix(_PREFIX), count) for name, count in totals.items() if is_unknown_type(name)]
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))


def is_unknown_type(counter: str) -> bool:
    """Return True if *counter* counts an unknown type."""
    return counter.startswith(_PREFIX)
