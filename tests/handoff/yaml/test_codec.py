"""A handoff as YAML: written entry by entry, the same as PyYAML would write it whole."""

from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flowd.handoff.yaml.codec import parse, render

WORDS = st.text(st.sampled_from("aZ09 -_./()':#,?!&*[]{}|>%@`~=+\"\\é—"), max_size=12)
TRICKY = st.sampled_from(
    "yes No ON off true NULL null ~ y N = << 1 1.5 1e3 0x1f .inf inf nan 12:30 2026-03-01 - -a a- a: :a #a "
    "a#b [] {} 5e551017-0000-4000-8000-000000000001 2026-03-01T10:00:00+00:00 2026-03-01T10:00:00Z".split()
)
TEXTS = WORDS | TRICKY | st.text(max_size=6)
VALUES = TEXTS | st.none() | st.booleans() | st.integers() | st.lists(TEXTS, max_size=3)


def whole(mapping: dict[str, Any]) -> str:
    """Return *mapping* as PyYAML writes it by itself."""
    return yaml.safe_dump(mapping, sort_keys=False)


@settings(max_examples=400)
@given(st.dictionaries(TEXTS.filter(bool), VALUES, max_size=5))
@example({"\n": None, "0": None, "goal": "two empty lines\n\n\n", "now": "after them"})
@example({"goal": "yes", "now": "2026-03-01", "status": "in_progress", "files": ["no", "1"]})
def test_every_value_is_read_back_as_it_was(mapping: dict[str, Any]) -> None:
    """Whatever short way was taken to write it."""
    back = yaml.safe_load(render(mapping).data) or {}
    assert back == yaml.safe_load(whole(mapping))
    assert list(back) == list(mapping)


@given(TEXTS)
def test_words_are_quoted_only_where_the_dumper_would(text: str) -> None:
    """People see the same file, whoever wrote it."""
    written = render({"goal": text}).data.decode()
    if "\n" not in text and text.isascii():
        assert written == yaml.safe_dump({"goal": text}, width=1000)


def test_what_is_known_is_not_written_anew_and_what_is_alike_is_told_apart() -> None:
    """1, 1.0 and True are equal in Python and are three things in YAML."""
    known = render({"goal": "Read: all", "count": 1, "files": ["a b", "c: d"]})
    again = render({"goal": "Read: all", "count": True, "files": ["a b", "c: d"]}, "", known.entries)
    assert again.entries["goal"] is known.entries["goal"]
    assert again.entries["files"] is known.entries["files"]
    assert parse(again.data).mapping == {"goal": "Read: all", "count": True, "files": ["a b", "c: d"]}
    assert b"count: true\n" in again.data
    fewer = render({"files": ["a b"]}, "# mine\n", again.entries)
    assert fewer.data == b"# mine\nfiles:\n- a b\n"
    assert render({}).data == b"{}\n"
