<<<<<<< HEAD
"""Secrets are masked wherever they stand, and what only looks like one stays."""

import time
from collections.abc import Iterator
=======
"""The redactor: every secret goes, everything else stays."""

from collections.abc import Callable, Iterator
>>>>>>> refs/heads/redaction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.redaction.redactor import Redactor, find_secrets, redact
<<<<<<< HEAD
from tests.redaction.samples.contexts import CARRIERS, NOTATIONS, SPOKEN
from tests.redaction.samples.keys import KINDS, LAYOUTS, key_lines
=======
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
>>>>>>> refs/heads/redaction
from tests.redaction.samples.lookalikes import look_alikes
from tests.redaction.samples.named import NAMED
from tests.redaction.samples.placed import PLACED
from tests.redaction.samples.providers import PROVIDERS
<<<<<<< HEAD
from tests.redaction.samples.template import Planted, fill, planted

# A value in a place that no rule can tell from ordinary text may be missed; anything more is a regression.
MAX_MISSED_SHARE = 0.01


def _provider_cases() -> Iterator[Planted]:
    for _, template in PROVIDERS:
        value = fill(template)
        marked = value if "⟦" in value else f"⟦{value}⟧"
        yield from (planted(carrier(marked)) for carrier in CARRIERS.values())


def _named_cases() -> Iterator[Planted]:
    for one in NAMED:
        value = fill(one.value, one.name)
        for name, notation in NOTATIONS.items():
            if not (one.plain and name in SPOKEN):
                yield planted(notation(one.name, value))


def _placed_cases() -> Iterator[Planted]:
    for template in PLACED:
        yield from (planted(carrier(fill(template))) for carrier in CARRIERS.values())


GROUPS = {"providers": _provider_cases, "named": _named_cases, "placed": _placed_cases}


def _is_covered(case: Planted) -> bool:
    found = [(secret.start, secret.end) for secret in find_secrets(case.text)]
    return all(any(at <= start and end <= to for at, to in found) for start, end in case.spans)


def test_there_are_enough_forms_contexts_and_look_alikes() -> None:
    assert len(PROVIDERS) + len(NAMED) + len(PLACED) >= 300
    assert len(CARRIERS) >= 20
    assert len(NOTATIONS) >= 20
    assert len(set(look_alikes())) >= 300


@pytest.mark.parametrize("group", GROUPS)
def test_a_secret_is_found_whatever_stands_around_it(group: str) -> None:
    cases = list(GROUPS[group]())
    missed = [case.text for case in cases if not _is_covered(case)]
    assert len(missed) <= MAX_MISSED_SHARE * len(cases), missed[:20]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_line_of_a_private_key_is_left(kind: str, layout: str) -> None:
    lines = key_lines(kind)
    redacted = redact(LAYOUTS[layout](lines))
    assert [line for line in lines[1:-1] if line in redacted] == []


def test_what_only_looks_like_a_secret_stays() -> None:
    assert [text for text in look_alikes() if redact(text) != text] == []


def test_a_person_adds_patterns_of_their_own() -> None:
    redactor = Redactor({"badge": r"BADGE-(\d{6})", "room": r"room \d{1,4}"})
    assert redactor("BADGE-123456 in room 7") == "BADGE-[redacted:badge] in [redacted:room]"
    assert redactor.with_patterns([r"acme_\w{1,20}"])("acme_x1 in room 7").count("[redacted:") == 2


@pytest.mark.parametrize("pattern", ["(unclosed", ".*" * 25, "(a+)+b", "(a|a)*b"])
def test_a_pattern_that_is_broken_or_could_hang_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="attern"):
        Redactor([pattern])


TEXTS = st.lists(
    st.sampled_from([*look_alikes()[:200], *(case.text for case in list(_placed_cases())[::17])])
    | st.sampled_from(["password", "token", " is ", "=", ": ", '"', "\n", "[redacted:", "]", "://", "@"])
    | st.text(max_size=12)
).map("".join)


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
=======
from tests.redaction.samples.template import fill

TOKEN = "ghp" + "_" + "a1B2" * 9
# A mask may take a prefix or a scheme with the secret, but no more of its surroundings.
MAX_COLLATERAL = 64


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
>>>>>>> refs/heads/redaction
    once = redact(text)
    assert redact(once) == once


<<<<<<< HEAD
@settings(max_examples=200, deadline=None)
@given(st.text() | TEXTS)
=======
@settings(max_examples=300)
@given(st.text() | FRAGMENTS)
>>>>>>> refs/heads/redaction
def test_secrets_are_found_in_order_and_inside_the_text(text: str) -> None:
    end = 0
    for found in find_secrets(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end


<<<<<<< HEAD
HOSTILE_UNITS = [
    "a", "eyJ", "sk-", "password", "password=", "-----BEGIN PRIVATE " + "KEY-----\n", "://a:", 'token="',
    "bearer ", "xox", "password ", "<password>", "12345678:AA", "eyJaaaaaaaa.eyJaaaaaaaa.", "token is ",
    "%41eyJaaaaaaaaaaa", "' \"", "api_key", "secret\n", "://" + "a" * 45, " -u a:", "key=/a.a", " ", "\t=",
    "\\\"token\\\":", "Cookie: a=", "-p", "curl -H '", "MII", "A" * 64 + "\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_the_cost_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    def spent(length: int) -> float:
        text = unit * (length // len(unit))
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    # Ten times the text takes a hundred times as long where the cost is a square.
    small = max(min(spent(20_000) for _ in range(3)), 0.002)
    assert min(spent(200_000) for _ in range(2)) < 40 * small
=======
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
>>>>>>> refs/heads/redaction
