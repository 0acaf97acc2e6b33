"""The redactor: every secret goes, everything else stays."""

import importlib.util
import re
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.redaction.redactor import Redactor, find_secrets, redact
from flowd.redaction.tokens import SHAPES, Shape, compiled


def _load_samples() -> ModuleType:
    # Test folders are no packages, so the neighbour is loaded by its path.
    spec = importlib.util.spec_from_file_location(
        "secret_samples", Path(__file__).with_name("secret_samples.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


samples = _load_samples()


def parts_left(redacted: str, secret: str) -> list[str]:
    """Return the pieces of *secret*, eight letters each, that can still be read."""
    redacted = re.sub(r"\[redacted:[a-z-]+\]", "", redacted)
    bare = secret.strip("-")
    width = min(8, len(bare))
    pieces = {bare[at : at + width] for at in range(len(bare) - width + 1)}
    return [piece for piece in pieces if piece in redacted and "PRIVATE" not in piece and "KEY" not in piece]


def test_there_are_sixty_secrets_in_twelve_contexts() -> None:
    assert len(samples.SECRETS) >= 60
    assert len(samples.CONTEXTS) >= 12
    assert len(samples.BENIGN) >= 60


@pytest.mark.parametrize("context", samples.CONTEXTS)
def test_every_invented_secret_is_caught(context: str) -> None:
    left = {}
    for name, secret in samples.SECRETS:
        text = samples.CONTEXTS[context](name, secret)
        redacted = redact(text)
        if "[redacted:" not in redacted or parts_left(redacted, secret):
            left[text] = redacted
    assert left == {}


@pytest.mark.parametrize(("text", "secret"), samples.PLACED, ids=range(len(samples.PLACED)))
def test_a_secret_is_caught_where_its_place_tells_it(text: str, secret: str) -> None:
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize("text", samples.BENIGN)
def test_a_benign_look_alike_is_untouched(text: str) -> None:
    assert redact(text) == text


def test_what_surrounds_a_secret_stays() -> None:
    token = "ghp" + "_" + "a1B2" * 9
    assert redact(f"use {token}, then push") == "use [redacted:github-token], then push"
    assert (
        redact('{"password": "hunter' + '2", "user": "bob"}')
        == '{"password": "[redacted:password]", "user": "bob"}'
    )
    assert redact("redis://:p4ss" + "w0rd@cache:6379") == "redis://:[redacted:url-password]@cache:6379"


def test_a_secret_is_told_with_its_kind_and_place() -> None:
    token = "AK" + "IA" + "Q7W8E9R1T2Y3U4I5"
    text = f"id {token} end"
    assert [(found.kind, text[found.start : found.end]) for found in find_secrets(text)] == [
        ("aws-key-id", token)
    ]


def test_a_key_block_cut_off_in_the_middle_is_still_hidden() -> None:
    block: str = samples.key_block("RSA ")
    cut = block[: len(block) // 2]
    assert redact(f"before\n{cut}") == "before\n[redacted:private-key]"


def test_two_keys_and_the_words_between_them() -> None:
    block: str = samples.key_block("EC ")
    assert redact(f"{block}\nand\n{block}\nend") == "[redacted:private-key]\nand\n[redacted:private-key]\nend"


def test_a_person_adds_patterns_of_their_own() -> None:
    redactor = Redactor({"badge": r"BADGE-(\d{6})", "room": r"room \d+"})
    assert redactor("BADGE-123456 in room 7") == "BADGE-[redacted:badge] in [redacted:room]"
    assert Redactor([r"acme_\w+"])("acme_x1 and hunter") == "[redacted:custom] and hunter"


def test_a_pattern_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="Invalid secret pattern"):
        Redactor(["(unclosed"])


def test_a_pattern_that_matches_its_own_mark_comes_to_an_end() -> None:
    assert Redactor([r"[a-z]+"])("abc").count("redacted") >= 1


TEXTS = st.lists(
    st.sampled_from([*samples.BENIGN, *(text for text, _ in samples.PLACED), *samples.SHAPED])
    | st.sampled_from(
        ["password", "token", " is ", "=", ": ", '"', "'", "\n", "\\n", "[redacted:", "]", "://", "@"]
    )
    | st.text(max_size=12)
).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(max_examples=300, deadline=None)
@given(st.text() | TEXTS)
def test_secrets_are_found_in_order_and_inside_the_text(text: str) -> None:
    end = 0
    for found in find_secrets(text):
        assert end <= found.start < found.end <= len(text)
        end = found.end


@settings(max_examples=100, deadline=None)
@given(st.text(), st.text(), st.sampled_from(samples.SHAPED[:20]))
def test_a_token_between_any_words_is_caught(before: str, after: str, token: str) -> None:
    assert token not in redact(f"{before} {token} {after}")


HOSTILE_UNITS = [
    "a", "eyJ", "sk-", "password", "password=", "-----BEGIN PRIVATE " + "KEY-----\n", "://a:", 'token="',
    "bearer ", "xox", "password ", "<password>", "12345678:AA", "eyJaaaaaaaa.eyJaaaaaaaa.", "token is ",
    "%41eyJaaaaaaaaaaa", "' \"", "api_key", "secret\n", "://" + "a" * 45, " -u a:", "key=/a.a",
    "\\\"token\\\":",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE_UNITS)
def test_the_time_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    def spent(length: int) -> float:
        text = unit * (length // len(unit))
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    # Ten times the text takes a hundred times as long where the cost is a square.
    small = max(min(spent(20_000) for _ in range(3)), 0.002)
    assert min(spent(200_000) for _ in range(2)) < 40 * small


def test_ten_megabytes_take_less_than_a_second() -> None:
    lines = [
        *samples.BENIGN,
        *(samples.CONTEXTS["log"](name, secret) for name, secret in samples.SECRETS[:40:8]),
    ]
    prose = (
        "The reader commits at a line boundary, and each sink follows at its own pace with its own cursor.\n"
    )
    page = "\n".join(line + "\n" + prose * 12 for line in lines)
    text = page * (10_000_000 // len(page) + 1)
    spent = []
    for _ in range(2):
        start = time.process_time()
        redacted = redact(text)
        spent.append(time.process_time() - start)
    assert min(spent) < 1.0
    assert redacted.count("[redacted:") > 400


def test_an_independent_judge_finds_nothing_left(tmp_path: Path) -> None:
    """detect-secrets, where it is installed, is asked about what redaction left."""
    scan = pytest.importorskip("detect_secrets.core.scan")
    settings_of_judge = pytest.importorskip("detect_secrets.settings")
    path = tmp_path / "redacted.txt"
    lines = [make(name, secret) for make in samples.CONTEXTS.values() for name, secret in samples.SECRETS]
    path.write_text("\n".join(map(redact, lines)))
    with settings_of_judge.default_settings():
        left = [found.secret_value for found in scan.scan_file(str(path))]
    assert [value for value in left if value and not value.startswith("[redacted:")] == []


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape.is_solid], ids=lambda shape: shape.kind)
def test_a_solid_token_holds_a_solid_run(shape: Shape) -> None:
    """Where no such run is, only the others are looked for."""

    @settings(max_examples=10, deadline=None)
    @given(st.from_regex(compiled(shape.pattern), fullmatch=True))
    def holds(token: str) -> None:
        assert re.search(r"[A-Za-z0-9_-]{16}", token)

    holds()
