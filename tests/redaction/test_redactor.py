"""The redactor: every secret goes, everything else stays."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.redaction.redactor import Redactor, find_secrets, redact
from flowd.system.regex_cost import MAX_PATTERNS, WINDOW, UnsafePatternError
from tests.redaction.samples.cases import (
    Case,
    all_cases,
    named_values,
    placed_secrets,
    private_keys,
    tokens_in_carriers,
    tokens_in_notations,
)
from tests.redaction.samples.contexts import CARRIERS, NOTATIONS
from tests.redaction.samples.lookalikes import look_alikes
from tests.redaction.samples.named import NAMED
from tests.redaction.samples.placed import PLACED
from tests.redaction.samples.providers import PROVIDERS
from tests.redaction.samples.template import fill

TOKEN = "ghp" + "_" + "a1B2" * 9
# A mask may take a prefix or a scheme with the secret, but no more of its surroundings.
MAX_COLLATERAL = 64


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


def left_readable(case: Case) -> list[str]:
    """Return the secrets of *case* of which any character is not covered."""
    found = [(secret.start, secret.end) for secret in find_secrets(case.text)]
    return [
        case.text[start:end]
        for start, end in case.spans
        if not any(first <= start and end <= last for first, last in found)
    ]


@pytest.mark.parametrize(
    "cases", [tokens_in_carriers, tokens_in_notations, named_values, placed_secrets, private_keys]
)
def test_every_form_is_masked_whole_in_every_context(cases: Callable[[], Iterator[Case]]) -> None:
    left = [(case.form, case.context, case.text) for case in cases() if left_readable(case)]
    assert left == []


def test_the_tables_hold_hundreds_of_forms_and_contexts_that_differ() -> None:
    """Three hundred forms in twenty contexts, and as many look-alikes: none of them twice."""
    forms = {*(issuer for issuer, _ in PROVIDERS), *NAMED, *PLACED}
    assert len(forms) == len(PROVIDERS) + len(NAMED) + len(PLACED) >= 300
    assert min(len(CARRIERS), len(NOTATIONS)) >= 20
    assert len(set(look_alikes())) >= 300


def test_masking_takes_little_else_with_it() -> None:
    cases = [case for case in all_cases() if not case.form.endswith("key")]
    masked = {case: sum(end - start for _, start, end in find_secrets(case.text)) for case in cases}
    secret = {case: sum(end - start for start, end in case.spans) for case in cases}
    assert [case for case in cases if masked[case] > secret[case] + MAX_COLLATERAL] == []


@pytest.mark.parametrize("text", look_alikes())
def test_a_look_alike_stays(text: str) -> None:
    assert redact(text) == text


def test_redacting_twice_changes_nothing_more() -> None:
    once = [redact(case.text) for case in all_cases()]
    assert [text for text in once if redact(text) != text] == []


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *("password", "token", " is ", "=", ": ", '"', "'", "\n", " ", "-", "_", ".", "[", "]", "://"),
            *("@", ":", TOKEN, "hunter" + "2", "eyJ", "sk-", "[redacted:password]", "[redacted:"),
            *("-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----", "A1b2" * 8),
            *("Cookie: a=", "; ", " -p", "mysql", "&key="),
        ]
    )
    | st.text(max_size=6),
    max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=400)
@given(FRAGMENTS)
def test_redacting_any_text_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=300)
@given(st.text() | FRAGMENTS)
def test_secrets_are_found_in_order_and_inside_the_text(text: str) -> None:
    end = 0
    for found in find_secrets(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end


@settings(max_examples=200)
@given(st.text(), st.text(), st.sampled_from([fill(form) for _, form in PROVIDERS[:40]]))
def test_a_token_between_any_words_is_masked(before: str, after: str, token: str) -> None:
    assert token not in redact(f"{before} {token} {after}")


def test_what_surrounds_a_secret_stays() -> None:
    assert redact(f"use {TOKEN}, then push") == "use [redacted:github-token], then push"
    assert (
        redact('{"password": "hunter' + '2", "user": "bob"}')
        == '{"password": "[redacted:password]", "user": "bob"}'
    )
    assert redact("redis://:p4ss" + "w0rd@cache:6379") == "redis://:[redacted:url-password]@cache:6379"
    assert redact("a=1\npw: Tr0ub4dor" + "&3\nb=2") == "a=1\npw: [redacted:password]\nb=2"


def test_a_secret_is_found_with_its_kind_and_place() -> None:
    text = f"id {TOKEN} end"
    assert [(found.kind, text[found.start : found.end]) for found in find_secrets(text)] == [
        ("github-token", TOKEN)
    ]


def test_an_earlier_mask_is_never_cut() -> None:
    """What is left beside a mask can look like a secret again."""
    once = redact("https://" + "a1b2c3d4e5" * 4 + ":x-oauth-basic@git.example.org/a.git")
    assert once == "https://[redacted:url-password]:x-oauth-basic@git.example.org/a.git"
    assert redact(once) == once


def test_a_secret_is_found_wherever_a_long_text_is_cut_into_pieces() -> None:
    line = "The reader commits at a line boundary.\n"
    pair = f"- name: DB_PASSWORD\n  value: {'zk81' * 2}\n"
    for lines in range(200, 230):
        assert "zk81" not in redact(line * lines + pair + line * 300)


def test_a_redactor_adds_patterns_to_the_built_in_rules() -> None:
    redactor = Redactor({"badge": r"BADGE-(\d{6})", "room": r"room \d+"})
    assert redactor("BADGE-123456 in room 7") == "BADGE-[redacted:badge] in [redacted:room]"
    assert redactor.redact(f"room 7, {TOKEN}") == "[redacted:room], [redacted:github-token]"
    assert Redactor([r"acme_\w+"])("acme_x1 and hunter") == "[redacted:custom] and hunter"


def test_a_project_adds_its_patterns_to_those_of_the_person_without_changing_them() -> None:
    person = Redactor(["ACME-[0-9]{6}"])
    both = person.with_patterns(["SHOP-[0-9]{6}"])
    text = "ACME-123456 SHOP-123456"
    assert both.redact(text) == "[redacted:custom] [redacted:custom]"
    assert person.redact(text) == "[redacted:custom] SHOP-123456"
    assert redact(text) == text
