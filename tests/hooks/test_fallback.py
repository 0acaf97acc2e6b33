"""The fallback of a hook, in this process: what it redacts and what it saves."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from flowd.actions.handoff_yaml import read_handoff
from flowd.hooks.fallback import main


@pytest.fixture(autouse=True)
def no_alarm() -> Iterator[None]:
    """The fallback sets an alarm that would end the tests."""
    yield
    signal.alarm(0)


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """A state directory's spool, with the log beside it."""
    (tmp_path / "state" / "log").mkdir(parents=True)
    (tmp_path / "state" / "spool").mkdir()
    return tmp_path / "state" / "spool"


def spooled(spool: Path, **fields: str) -> Path:
    transcript = spool.parent / "s.jsonl"
    transcript.touch()  # a session without one is left to the daemon
    file = spool / "1-1.json"
    file.write_text(json.dumps({"transcript_path": str(transcript), **fields}))
    return file


def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    monkeypatch.setenv("FLOWD_CONFIG", str(tmp_path / "config.yaml"))


def test_the_patterns_of_the_settings_are_masked_in_the_spool(
    spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(tmp_path, monkeypatch, "redaction: {patterns: ['ACME-[0-9]{6}']}\n")
    file = spooled(spool, hook_event_name="Stop", last_assistant_message="Used ACME-123456")
    assert main(str(file)) == 0
    assert json.loads(file.read_bytes())["last_assistant_message"] == "Used [redacted:custom]"


def test_with_broken_settings_the_built_in_rules_are_applied(
    spool: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured(tmp_path, monkeypatch, "redaction: [")
    secret = "ghp_" + "a1B2" * 9
    fields = {"cwd": str(project), "last_assistant_message": f"Used {secret}"}
    file = spooled(spool, hook_event_name="Stop", **fields)
    assert main(str(file)) == 0
    assert secret not in file.read_text()
    assert "not-saved" in (spool.parent / "log" / "hooks.log").read_text()


def test_a_stop_saves_the_state_of_the_project(spool: Path, project: Path) -> None:
    file = spooled(spool, hook_event_name="Stop", cwd=str(project))
    assert main(str(file)) == 0
    assert read_handoff(project)["branch"] == "main"


def test_a_start_is_not_a_state_to_save(spool: Path, project: Path) -> None:
    file = spooled(spool, hook_event_name="UserPromptSubmit", cwd=str(project))
    assert main(str(file)) == 0
    assert read_handoff(project) == {}
