"""Short texts for people."""

from hypothesis import given
from hypothesis import strategies as st

from flowd.system.text import and_more, cut, one_line, printable_line


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
