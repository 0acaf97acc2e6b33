"""YAML of strangers: read within limits, or refused with the line and without a quotation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.system.yaml_text import YamlTextError, load_yaml, yaml_events


def test_scalars_lists_and_mappings_are_read() -> None:
    assert load_yaml("a: [1, 2.5, yes, null, x]\nb:\n  c: |\n    two\n    lines\n") == {
        "a": [1, 2.5, True, None, "x"],
        "b": {"c": "two\nlines\n"},
    }
    assert load_yaml("") is None
    assert load_yaml("a: &x [1]\nb: *x\n") == {"a": [1], "b": [1]}


def test_with_only_text_every_scalar_stays_as_it_is_written() -> None:
    assert load_yaml("commit: 1e10000\nday: 2026-03-01\nok: yes", only_text=True) == {
        "commit": "1e10000",
        "day": "2026-03-01",
        "ok": "yes",
    }


HOSTILE = [
    ("a: !!python/object/apply:os.system ['true']", "a tag", 1),
    ("a: 1\nb: !!binary aGk=", "a tag", 2),
    ("[" * 40, "nested deeper than 32 levels", 1),
    ("x: &a [1]\ny: [" + "*a, " * 17 + "]", "more aliases than the 16", 2),
    ("a: 1\nb: [", "invalid YAML", 3),
    ("a: 1\n---\nb: 2\n", "invalid YAML", 2),
    ("a: 2026-99-99", "invalid YAML", 0),
    ("? [a]\n: b", "invalid YAML", 1),
    ("a: \ud800", "invalid YAML", 0),
    ("a: " + "1:" * 500 + "1", "a number that is too long", 1),
    ("a: " + "9" * 5000, "a number that is too long", 1),
    (
        "a0: &a0\n"
        + "".join(f"  k{number}: 1\n" for number in range(2000))
        + "".join(f"a{number + 1}: &a{number + 1}\n  <<: [*a{number}, *a{number}]\n" for number in range(6)),
        "too many values",
        2009,
    ),
    ("a: " + "b" * 300_000, "longer than 256 KB", 1),
]


@pytest.mark.parametrize(("text", "problem", "line"), HOSTILE)
def test_what_flowd_does_not_read_raises_with_its_line(text: str, problem: str, line: int) -> None:
    with pytest.raises(YamlTextError, match=problem) as raised:
        load_yaml(text)
    assert raised.value.line == line


def test_a_message_quotes_nothing_of_the_text() -> None:
    with pytest.raises(YamlTextError) as raised:
        load_yaml("key: hunter2 : {hunter2\n")
    assert "hunter2" not in str(raised.value)


def test_lines_are_counted_from_where_the_text_begins_in_its_file() -> None:
    with pytest.raises(YamlTextError, match=r"too many values, line 12"):
        list(yaml_events("a: 1\nb: 2\nc: 3\n", max_events=7, first_line=10))


@given(st.text() | st.text("[]{}:-&*!|>'\"\n a1,?#%@"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value: Any = load_yaml(text)
    except YamlTextError:
        return
    assert value is None or type(value).__name__ in "str int float bool list dict date datetime"
