"""What a program started by flowd inherits."""

import os

import pytest

from flowd.system.processes import scrubbed_environment


def test_a_child_inherits_nothing_of_a_claude_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "x")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/c")
    kept = {name for name in scrubbed_environment() if name.startswith("CLAUDE")}
    assert kept == {"CLAUDE_CONFIG_DIR"}
    assert scrubbed_environment().keys() < os.environ.keys()
