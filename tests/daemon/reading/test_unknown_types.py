"""Unknown record types: counted by name, cleaned, and never more names than a table can show."""

import json
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.reading.unknown_types import MAX_NAMES, UnknownTypes, count_by_name
from flowd.store.journal import Batch

if TYPE_CHECKING:
    from tests.support.following import Following


def records(*kinds: str) -> bytes:
    return b"".join(json.dumps({"type": kind, "sessionId": "s1"}).encode() + b"\n" for kind in kinds)


def counted(unknown: UnknownTypes, *names: str) -> dict[str, int]:
    batch = Batch()
    for name in names:
        unknown.count({name: 1}, batch)
    return count_by_name(batch.counters)


def test_types_are_counted_by_name_the_most_frequent_first() -> None:
    assert list(counted(UnknownTypes(), "mood", "brain-wave", "brain-wave").items()) == [
        ("brain-wave", 2),
        ("mood", 1),
    ]


@pytest.mark.parametrize("name", ["", "a b", "x" * 41, "\x1b[31m", "7up", "naïve", "line\nbreak"])
def test_a_name_that_is_not_plain_is_not_repeated(name: str) -> None:
    assert counted(UnknownTypes(), name) == {"other": 1}


def test_there_are_never_more_names_than_that() -> None:
    unknown = UnknownTypes()
    found = counted(unknown, *(f"type-{number}" for number in range(3 * MAX_NAMES)))
    assert len(found) == MAX_NAMES + 1
    assert found["other"] == 2 * MAX_NAMES
    assert counted(unknown, "type-0", "other") == {"type-0": 1, "other": 1}


def test_the_names_outlast_a_restart(following: "Following") -> None:
    following.append(records("user", "mood", "mood", "brain wave"))
    following.restart()
    following.append(records(*(f"type-{number}" for number in range(2 * MAX_NAMES))))
    found = count_by_name(following.counters)
    assert (found["mood"], len(found)) == (2, MAX_NAMES + 1)
    assert following.counters["unknown_types"] == 3 + 2 * MAX_NAMES
