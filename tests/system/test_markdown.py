"""The one markdown reader: what each line is, and where headings and fences are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.system.markdown import outline_of, read_lines, split_front_matter, split_lines

TEXT = """\
# Title #
words
- [x] done
  * [~] half
1) number
> - [ ] quoted
| a | b |
|---|---|
***
```sh
# code
- [ ] code
```
## Using C#
"""


def test_each_line_has_one_kind() -> None:
    lines = read_lines(split_lines(TEXT))
    assert [line.kind for line in lines] == (
        "heading text bullet bullet bullet bullet row rule rule fence code code fence heading blank".split()
    )
    assert [line.text for line in lines if line.kind == "heading"] == ["Title", "Using C#"]
    assert [(line.box, line.indent, line.text) for line in lines if line.kind == "bullet"] == [
        ("x", 0, "done"),
        ("~", 2, "half"),
        ("", 0, "number"),
        (" ", 0, "quoted"),
    ]
    assert lines[6].cells == ("a", "b")


def test_an_unclosed_fence_hides_nothing() -> None:
    lines = read_lines(["```", "# heading", "- [ ] step"])
    assert [line.kind for line in lines] == ["text", "heading", "bullet"]


def test_a_named_fence_inside_a_fence_lies_in_it() -> None:
    lines = read_lines(["```", "```yaml", "a: 1", "```", "# code", "```", "# heading"])
    assert [line.kind for line in lines if line.raw.startswith("#")] == ["code", "heading"]


@pytest.mark.parametrize("text", ["- [x](a.md)", "- [y] no", "- [x]no"])
def test_what_only_looks_like_a_box_is_none(text: str) -> None:
    assert read_lines([text])[0].box == ""


def test_a_line_indented_like_code_is_no_heading_but_is_in_the_outline() -> None:
    assert read_lines(["    # comment"])[0].kind == "text"
    assert [heading.title for heading in outline_of("    # comment\n").headings] == ["comment"]


def test_front_matter_is_split_off_only_when_it_is_closed() -> None:
    assert split_front_matter(["", "---", "a: 1", "...", "text"]) == (["a: 1"], ["text"])
    assert split_front_matter(["---", "a: 1"]) == ([], ["---", "a: 1"])
    assert split_front_matter([]) == ([], [])


@given(st.text("#`~- \t\n\r[]xX|:*_>1.)ab"))
def test_every_line_is_kept_and_numbered(text: str) -> None:
    raw = split_lines(text)
    lines = read_lines(raw)
    assert [line.raw for line in lines] == raw
    assert [line.number for line in lines] == list(range(1, len(raw) + 1))
    outline = outline_of(text.replace("\r", "\n"))
    assert all(fence.start < fence.body <= fence.end + 1 for fence in outline.fences)
