"""The patterns that a person or a project adds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.redaction.redactor import Redactor
from flowd.system.regex_cost import MAX_PATTERNS, WINDOW, UnsafePatternError


@pytest.mark.parametrize("pattern", ["(unclosed", ".*" * 25, "(a+)+", "", "x" * 501])
def test_a_pattern_that_is_invalid_or_could_run_for_long_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UnsafePatternError) as refused:
        Redactor(["fine", pattern])
    assert repr(pattern)[:70] in str(refused.value)
    assert refused.value.hint


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(UnsafePatternError, match="101 patterns"):
        Redactor([f"ACME-{number}" for number in range(MAX_PATTERNS + 1)])


@given(st.integers(0, 3 * WINDOW), st.integers(1, 6))
def test_a_match_is_found_wherever_it_stands(before: int, matches: int) -> None:
    text = "x " * before + "ACME-123456 " * matches + "y " * before
    assert Redactor(["ACME-[0-9]{6}"])(text) == text.replace("ACME-123456", "[redacted:custom]")


@pytest.mark.parametrize("length", [1, WINDOW - 6, WINDOW, 3 * WINDOW, 40 * WINDOW])
def test_a_match_longer_than_the_window_is_masked_whole(length: int) -> None:
    text = f"before acme_{'x1' * length} after"
    assert Redactor([r"acme_\w+"])(text) == "before [redacted:custom] after"


def test_a_pattern_sees_what_stands_before_its_match() -> None:
    text = "id=a1 " * 400
    assert Redactor([r"(?<=id=)\w+"])(text) == "id=[redacted:custom] " * 400


def test_a_pattern_that_matches_nothing_or_a_mask_changes_nothing() -> None:
    redactor = Redactor(["z*", "redacted", "custom"])
    once = redactor("buzz and ACME")
    assert once == "bu[redacted:custom] and ACME"
    assert redactor(once) == once
