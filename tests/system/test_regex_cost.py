"""Regular expressions from outside: what is refused, and that what is accepted stays fast."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.system.regex_cost import WINDOW, UnsafePatternError, compile_bounded, find_problem

ACCEPTED = [
    r"ACME-\d{6}",
    r"BADGE-(\d{6})",
    r"acme_\w+",
    r".*SECRET.*",
    r"[A-Z]+-\d+",
    r"password: *(\S+)",
    r"[A-Za-z0-9]+@[A-Za-z0-9]+\.corp",
    r"(\w+)\s*=\s*(\w+)",
    r"(?i)acme[-_ ]?key[:=]\s*([\w-]{8,64})",
    r"\b[A-Z]{2,5}-\d{3,8}\b",
    r"(?:\d{4}-){3}\d{4}",
    r"(?<=id=)\w+",
    r"sk_(live|test)_[A-Za-z0-9]{24,}",
    r"[\w.]+@acme\.example",
    r"^X-Acme: .+$",
    r"customer-(?:eu|us)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    r"'[^']*'",
    r"(?s)<secret>.*?</secret>",
    r"(?:[a-z]+,)*end",
    r"(['\"])k\1",
    r"(?>a+)b",
    r"a++b",
    r"(?=.*\d)\w{8,}",
    r"[а-я]+\d",
]
REFUSED = [
    ".*" * 25,
    "(a+)+",
    "(a|a)*b",
    "(a*)*",
    "([a-zA-Z]+)*$",
    "(.*a){12}",
    "x*x*x*y",
    r"\w+\w+\d+@",
    ".*.*=",
    ".*.*$",
    r"\w*\w*\b!",
    "(a|aa)+$",
    "(?:a?){30}a{30}",
    r"(\d+|\w+)*!",
    r"(\w+\s?)+:",
    r"(.+)\1+x",
    ".*foo.*bar.*baz",
    "(?=.*aaaaaaaaaab)" * 20,
    r"\w+(?=.*aaaab)=",
    "(a{1,20}){1,20}b",
    r"^(\s*#.*\n)*x",
]


@pytest.mark.parametrize("pattern", ACCEPTED)
def test_a_pattern_as_people_write_them_is_accepted(pattern: str) -> None:
    assert find_problem(pattern) == ""
    assert compile_bounded(pattern).pattern == pattern


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: pattern[:20])
def test_a_pattern_that_backtracks_without_bound_is_refused(pattern: str) -> None:
    assert "too long" in find_problem(pattern)
    with pytest.raises(UnsafePatternError, match="too long"):
        compile_bounded(pattern)


@pytest.mark.parametrize("pattern", ["", "(", "[", "*", "a" * 501, None, 7, "(?P<a", "(?(1)a|b)" * 60])
def test_what_is_no_short_pattern_is_refused(pattern: object) -> None:
    assert find_problem(pattern)


ATOMS = st.sampled_from(
    ["a", "b", r"\d", r"\w", ".", "[ab]", "[^a]", r"\s", "(?:a|b)", "(?:a|ab)", "(?:ab?)", r"\b", "(?=a)"]
)
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2,5}", "{0,40}", "*?", "{3}", "++"])
SEQUENCES = st.lists(st.tuples(ATOMS, REPEATS).map("".join), min_size=1, max_size=5).map("".join)
PATTERNS = st.one_of(
    SEQUENCES,
    st.tuples(SEQUENCES, REPEATS, SEQUENCES).map(lambda parts: f"(?:{parts[0]}){parts[1]}{parts[2]}"),
)
HOSTILE = [unit * WINDOW for unit in ("a", "ab", "b", "1", "a1 ", "aaaaaaaaab")]


@settings(max_examples=300)
@given(PATTERNS)
def test_whatever_is_accepted_searches_a_hostile_window_in_steps_of_the_bound(pattern: str) -> None:
    """An unbounded pattern would take years for one of these; the bound is a million steps."""
    if find_problem(pattern):
        return
    expression = compile_bounded(pattern)
    before = time.process_time()
    for text in HOSTILE:
        expression.search(text[:WINDOW] + "\0", 0, WINDOW)
    assert time.process_time() - before < 5.0
