"""A handoff as YAML text: what people see, and what is read back."""

import re
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
    back = yaml.safe_load(render(mapping)) or {}
    assert back == yaml.safe_load(whole(mapping))
    assert list(back) == list(mapping)


@given(TEXTS)
def test_words_are_quoted_only_where_the_dumper_would(text: str) -> None:
    """People see the same file, whoever wrote it."""
    written = render({"goal": text}).decode()
    is_number = re.fullmatch(r"[-+\d._eo]+", text, re.IGNORECASE)  # YAML 1.2 knows more of them
    if "\n" not in text and text.isascii() and not is_number:
        assert written == yaml.safe_dump({"goal": text}, width=1000)


def test_an_empty_handoff_is_an_empty_mapping_below_its_comment() -> None:
    assert render({}, "# mine\n") == b"# mine\n{}\n"
    assert parse(render({}, "# mine\n")).header == "# mine\n"
