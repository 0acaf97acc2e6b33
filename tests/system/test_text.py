"""Short texts for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.system.text import and_more, cut, one_line, printable_line, visible


def test_white_space_and_what_cannot_be_printed_becomes_one_blank() -> None:
    assert one_line(" a\n\t b\r\n") == "a b"
    assert printable_line("a\x1b[31m\x00b\u200bc") == "a [31m b c"


def test_a_long_text_is_cut_between_words_and_says_so() -> None:
    assert cut("one two three", 13) == "one two three"
    assert cut("one two, three", 10) == "one two…"
    assert cut("unbreakable", 5) == "unbr…"


@given(st.text(), st.integers(2, 50))
def test_what_is_cut_never_exceeds_its_size(text: str, size: int) -> None:
    assert len(cut(text, size)) <= size


def test_a_list_says_how_many_it_leaves_out() -> None:
    assert and_more(["a", "b"], 2) == "a, b"
    assert and_more(["a", "b", "c", "d"], 2) == "a, b (+2 more)"
    assert and_more([], 2) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[8mb\r\x9b\x7f", "a\\x1b[8mb\\x0d\\x9b\\x7f"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("a\u200bb\u2060\ufeff", "a\\u200bb\\u2060\\ufeff"),
        ("a" + chr(0xE0041), "a\\udb40\\udc41"),
        ("\ud800", "\\ud800"),
        ("e\ufe0f\ufe0f", "e\ufe0f\\ufe0f"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


@pytest.mark.parametrize("text", ["plain\n\ttext", "naïve 漢字 ❤️ 1️⃣ 👩‍💻 🙂‍↔️", "کتاب‌ها नमस्‌ते", "שלום"])
def test_scripts_and_emoji_stay_as_they_are(text: str) -> None:
    assert visible(text) == text
