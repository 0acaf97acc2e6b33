"""Plain text from markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.extractors.text import cut, cut_at_sentence, pieces, plain, sentences


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("## **The plan**", "The plan"),
        ("- [x] Use `git rebase` *only* here", "Use git rebase only here"),
        ("**Real concern: no `Retry`.** It loops.", "Real concern: no Retry. It loops."),
        ("see [the docs](https://example.org/a) for it", "see the docs for it"),
        ("cache `*http.Client` per `*Client`", "cache *http.Client per *Client"),
        ("✅ done, 3 of 4 ⚠️ left", "done, 3 of 4 left"),
        ("names_with_underscores stay", "names_with_underscores stay"),
        ("a<br>b", "a b"),
    ],
)
def test_markdown_leaves_its_words_and_nothing_else(markdown: str, expected: str) -> None:
    """Marks go, code and names stay as they are."""
    assert plain(markdown) == expected


def test_sentences_end_where_a_new_one_begins() -> None:
    """Abbreviations, versions and closing brackets do not mislead."""
    text = "It waits (10 seconds!). Use e.g. Redis 7.2 instead. Then it works."
    assert sentences(text) == ["It waits (10 seconds!).", "Use e.g. Redis 7.2 instead.", "Then it works."]


def test_code_blocks_are_no_pieces() -> None:
    """What stands in a fence is not prose."""
    assert [piece.text for piece in pieces("before\n```sh\nrm -rf build\n```\nafter")] == ["before", "after"]


def test_a_list_item_knows_its_lead() -> None:
    """The line that ends with a colon leads into the items below it, a paragraph ends it."""
    found = list(pieces("What broke:\n- the cart\nOther things\n- the till"))
    assert [(piece.text, piece.lead) for piece in found if piece.is_item] == [
        ("- the cart", "What broke:"),
        ("- the till", ""),
    ]


def test_a_table_row_reads_as_a_sentence() -> None:
    """The rule between head and body is left out."""
    found = [piece.text for piece in pieces("| Case | What happens |\n|---|---|\n| empty cart | 404 |")]
    assert found == ["Case: What happens", "empty cart: 404"]


@given(st.text(max_size=300), st.integers(10, 80))
def test_a_cut_text_fits(text: str, size: int) -> None:
    """Whatever the text, the cut keeps the size."""
    assert len(cut(text, size)) <= size
    assert len(cut_at_sentence(text, size)) <= max(size, 1)


def test_a_cut_falls_between_words() -> None:
    """No half word at the end."""
    assert cut("the quick brown fox jumps", 16) == "the quick brown…"


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """No text makes the readers raise."""
    for piece in pieces(text):
        sentences(plain(piece.text))
