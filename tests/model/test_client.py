"""Versions of clients, and what follows from them."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowd.model.client import HookInput, hook_input, keeps_what_it_was_told, parse_version
from tests.support.repository import DATA

INPUTS = sorted((DATA / "hooks").glob("*.json"))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("2.1.327 (Claude Code)\n", (2, 1, 327)),
        ("1.0.128 (Claude Code)", (1, 0, 128)),
        ("3.0.0-beta.1 (Claude Code)", (3, 0, 0)),
        ("claude 2", None),
        ("9999999999999.1.1", None),
        ("", None),
    ],
)
def test_a_version_is_read_from_its_beginning(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("client", "keeps"), [("2.0.77", False), ("2.1.119", False), ("2.1.121", True), ("", True)]
)
def test_old_clients_forget_what_they_were_told(client: str, keeps: bool) -> None:
    assert keeps_what_it_was_told(client) is keeps


def sample(name: str) -> dict[str, Any]:
    return dict(json.loads((DATA / "hooks" / f"{name}.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("file", INPUTS, ids=lambda file: file.stem)
def test_every_text_that_flowd_uses_is_taken_as_it_came(file: Path) -> None:
    raw = sample(file.stem)
    taken = hook_input(raw, at=5)
    fields = [name for name in HookInput.__struct_fields__ if name != "at"]
    assert {name: getattr(taken, name) for name in fields} == {name: raw.get(name, "") for name in fields}
    assert taken.hook_event_name
    assert taken.at == 5.0


def test_what_is_no_text_counts_as_missing() -> None:
    taken = hook_input(
        {**sample("stop"), "cwd": ["/home"], "session_id": None, "reason": {"a": 1}}, at="soon"
    )
    assert (taken.cwd, taken.session_id, taken.reason, taken.at) == ("", "", "", 0.0)
    assert taken.last_assistant_message == sample("stop")["last_assistant_message"]
