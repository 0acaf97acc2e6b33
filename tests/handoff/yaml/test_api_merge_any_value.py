"""Whatever value a handoff file is given, two YAML parsers read it back as it was."""

import os
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from flowd import handoff
from flowd.handoff.yaml.api import merge_into_file
from flowd.redaction.data import redact_data
from flowd.redaction.redactor import redact

SIGNS = "aZ09 -_./()':#,?!&*[]{}|>%@`~=+\"\\é—\n\t…"
# fmt: off
NASTY = (
    "...", "Let's see what CI says...", "a, b...", "100%...", "é...", "a\n...", "a...\n", "...\n\n", "---",
    "--- a", "a\n---\nb", "yes", "No", "~", "null", "=", "<<", "1", "1e3", "1E-3", "0o17", "0x1f", "0b1",
    "1_000", ".5", "5.", "+.inf", ".NaN", "12:30", "1:2.5", "2026-03-01", "2026-03-01T10:00:00Z", "-",
    "- a", "a: b", "a:", "a #b", "#a", "[", "{}", "!x", "&a", "*a", "|", ">", "?", "? a", "@", "`", "%TAG",
    "", " ", " a", "a ", "\n", "\n\n", " \n", "\ta", "a\n b\n  c", "\n  a", "  a\nb", "a\n\n\n", "a \nb",
    "a\tb\n", "a\r\nb", "\r", "\x85", "\u2028a", "\ufeff", "\x00", "\x1b[0m", "\x7f", "\x9f", "🚀 go",
    "🚀...", "\U0010ffff", "\ufffe", "\uffff", "\ue000", "'", '"', "\\n", "x" * 200, "word " * 60, "🚀\n" * 3,
    "a\u2029\n", "# a\nb", "- a\n- b\n", "key: |\n  text", "a\n\tb", "\u00a0a\u00a0",
)
# fmt: on
TEXTS = (
    st.sampled_from(NASTY)
    | st.text(st.sampled_from(SIGNS), max_size=12)
    | st.text(st.characters(codec="utf-8"), max_size=8)
)
LEAVES = TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
WORDS = TEXTS.filter(str.strip)
HANDOFFS = st.fixed_dictionaries(
    {
        "goal": WORDS,
        "status": st.just("blocked"),
        "now": WORDS,
        "timestamp": st.just("2026-03-01T10:00:00+00:00"),
    },
    optional={"hypothesis": TEXTS, "outcome": VALUES, "files": st.lists(TEXTS, max_size=6), "extra": VALUES},
)


def typed(value: Any) -> Any:
    """Return *value* with its types: 1, 1.0 and True are equal in Python and are three things in YAML."""
    if isinstance(value, dict):
        return [(key, typed(item)) for key, item in value.items()]
    return [typed(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


def assert_holds(path: Path, expected: dict[str, Any]) -> None:
    """Check that PyYAML (YAML 1.1) and ruamel.yaml (YAML 1.2) read *expected*, in this order."""
    data = path.read_bytes()
    for loaded in (yaml.safe_load(data), YAML(typ="safe", pure=True).load(data)):
        assert typed(loaded) == typed(expected), data


def masked(data: dict[str, Any]) -> dict[str, Any]:
    """Return *data* as it may be written."""
    return {key: redact_data(value, redact, key) for key, value in data.items()}


def check_save(root: Path, data: dict[str, Any]) -> None:
    """Save *data* where no file is."""
    handoff.clear_handoff(root)
    path = handoff.save_handoff(data, root)
    expected = masked(data)
    assert_holds(path, {key: expected[key] for key in yaml.safe_load(path.read_bytes())})
    assert typed(dict(sorted((handoff.load_handoff(root) or {}).items()))) == typed(
        dict(sorted(expected.items()))
    )


def check_update(root: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Save *first*, lay *second* over it."""
    check_save(root, first)
    result = handoff.update_handoff(second, root)
    assert_holds(handoff.get_handoff_path(root), result)
    wanted = {**masked(first), **masked(second), "timestamp": result["timestamp"]}
    assert typed([result[key] for key in wanted]) == typed(list(wanted.values()))


def check_merge(root: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Merge twice as the sink does, the second time into a file that is known."""
    handoff.clear_handoff(root)
    known = merge_into_file(root, lambda _: first, touch=True)
    merged = merge_into_file(root, lambda present: {**(present or {}), **second}, known=known, touch=True)
    assert merged.mapping is not None
    assert_holds(handoff.get_handoff_path(root), merged.mapping)
    wanted = {**masked(first), **masked(second)}
    assert typed([merged.mapping[key] for key in wanted]) == typed(list(wanted.values()))


@pytest.mark.parametrize("text", [text for text in NASTY if text.strip()])
def test_a_nasty_text_survives_saving_updating_and_merging(tmp_path: Path, text: str) -> None:
    data = {"goal": text, "status": "blocked", "now": text, "files": [text, text], "note": {text: text}}
    data["timestamp"] = "2026-03-01T10:00:00+00:00"
    check_update(tmp_path, data, {"now": f"then {text}", "goal": text, "last": text})
    check_merge(tmp_path, data, {"now": f"then {text}", "goal": text, "last": text})


@settings(max_examples=150, deadline=None)
@given(HANDOFFS, HANDOFFS)
def test_any_value_survives_saving_updating_and_merging(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, Any], second: dict[str, Any]
) -> None:
    root = tmp_path_factory.mktemp("project", numbered=True)
    check_update(root, first, second)
    check_merge(root, first, second)


def random_text(chance: random.Random) -> str:
    """Return a text of any kind: nasty, made of nasty parts, of signs, or of any characters."""
    kind = chance.randrange(4)
    if kind == 0:
        return chance.choice(NASTY)
    if kind == 1:
        return "".join(chance.choices(NASTY, k=2))
    if kind == 2:
        return "".join(chance.choices(SIGNS, k=chance.randrange(16)))
    points = (chance.choice((128, 0x800, 0xD800, 0x10FFFF)) for _ in range(chance.randrange(10)))
    return "".join(chr(chance.randrange(point)) for point in points).encode("utf-8", "replace").decode()


def random_handoff(chance: random.Random) -> dict[str, Any]:
    """Return a handoff with twenty values."""
    texts = [random_text(chance) for _ in range(17)]
    number, power = chance.randrange(-(2**63), 2**63), 10.0 ** chance.randrange(-300, 300)
    leaf = chance.choice((True, None, number, chance.uniform(-1e9, 1e9), power))
    return {
        "goal": texts[0] if texts[0].strip() else "x",
        "status": "blocked",
        "now": texts[1] if texts[1].strip() else "x",
        "hypothesis": texts[2],
        "outcome": texts[3],
        "files": texts[4:9],
        "timestamp": "2026-03-01T10:00:00+00:00",
        "extra": {texts[9]: texts[10], "list": [texts[11:13], {texts[13]: [texts[14]]}], "leaf": leaf},
        f"key {texts[15]}": texts[16],
    }


def test_many_random_values_survive_saving_updating_and_merging(tmp_path: Path) -> None:
    """FLOWD_YAML_VALUES: how many, 20 in each handoff."""
    chance = random.Random(5)
    for _ in range(int(os.environ.get("FLOWD_YAML_VALUES", "1000")) // 40):
        first, second = random_handoff(chance), random_handoff(chance)
        check_update(tmp_path, first, second)
        check_merge(tmp_path, first, second)


def test_the_document_end_marker_never_cuts_the_file_in_two(tmp_path: Path) -> None:
    data = {
        "goal": "Let's see what CI says...",
        "status": "blocked",
        "now": "two empty lines\n\n\n",
        "last": "x",
    }
    handoff.save_handoff(data, tmp_path)
    loaded = handoff.load_handoff(tmp_path)
    assert loaded is not None
    assert {key: loaded[key] for key in data} == data
