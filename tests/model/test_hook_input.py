"""The standard input of every hook, as Claude Code sends it."""

import json
from pathlib import Path
from typing import Any

import pytest

from flowd.model.hook_input import HookInput, hook_input
from tests.support.repository import DATA

INPUTS = sorted((DATA / "hooks").glob("*.json"))


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
