"""Editing JSON as text: what was appended and taken out again leaves no trace."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.cli.flowd.install.settings_file import appended, find, items, value_at, without

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
STYLES: list[dict[str, Any]] = [
    {"indent": 2},
    {"indent": 4},
    {"indent": "\t"},
    {"indent": None},
    {"separators": (",", ":")},
    {"indent": 1, "separators": (" , ", " :  ")},
]


def written(value: object, style: dict[str, Any]) -> str:
    return json.dumps(value, **style)


@given(st.lists(VALUES, max_size=4), VALUES, st.sampled_from(STYLES))
def test_an_appended_element_is_the_last_one_and_can_be_taken_out_again(
    elements: list[Any], value: Any, style: dict[str, Any]
) -> None:
    text = written({"list": elements}, style) + "\n"
    start = find(text, "list")
    assert start is not None
    longer = appended(text, start, value)
    assert json.loads(longer) == {"list": [*elements, value]}
    assert without(longer, start, len(elements)) == text


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), VALUES, st.sampled_from(STYLES))
def test_an_appended_member_is_the_last_one_and_can_be_taken_out_again(
    members: dict[str, Any], value: Any, style: dict[str, Any]
) -> None:
    members.pop("new", None)
    text = written(members, style)
    longer = appended(text, 0, value, "new")
    assert list(json.loads(longer).items()) == [*members.items(), ("new", value)]
    assert without(longer, 0, len(members)) == text


@given(st.lists(VALUES, min_size=1, max_size=4), st.data())
def test_any_element_can_be_taken_out(elements: list[Any], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(elements) - 1))
    text = written(elements, {"indent": 2})
    assert json.loads(without(text, 0, index)) == elements[:index] + elements[index + 1 :]


@given(VALUES.filter(lambda value: isinstance(value, dict)), st.sampled_from(STYLES))
def test_the_items_are_where_they_are_said_to_be(value: dict[str, Any], style: dict[str, Any]) -> None:
    text = written(value, style)
    assert [(item.key, value_at(text, item.value_start)) for item in items(text, 0)] == list(value.items())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n    "a": {}\n}', '{\n    "a": {\n        "k": [\n            1\n        ]\n    }\n}'),
        ('{\r\n\t"a": {}\r\n}\r\n', '{\r\n\t"a": {\r\n\t\t"k": [\r\n\t\t\t1\r\n\t\t]\r\n\t}\r\n}\r\n'),
        ('{"a": {}}', '{"a": {"k": [1]}}'),
        ('{\n  "a": {"b": 1}\n}', '{\n  "a": {"b": 1, "k": [1]}\n}'),
    ],
)
def test_what_is_added_looks_like_what_is_around_it(text: str, expected: str) -> None:
    start = find(text, "a")
    assert start is not None
    assert appended(text, start, [1], "k") == expected


def test_of_equal_keys_the_last_one_counts() -> None:
    text = '{"a": 1, "a": 2}'
    start = find(text, "a")
    assert start is not None
    assert value_at(text, start) == 2


def test_what_is_not_there_is_not_found() -> None:
    assert find('{"a": [1]}', "b") is None
    assert find('{"a": [1]}', "a", "b") is None
