"""``flowd model``: nothing is sent before a person has read what, and agreed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.cli.flowd import main
from flowd.config.paths import resolve_paths


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["model", *words]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_it_is_off_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    status = json.loads(printed(capsys, "status", "--json"))
    assert (status["is_on"], status["calls_today"]) == (False, 0)
    assert status["reason"].startswith("off: `flowd model on`")


def test_on_explains_what_is_sent_to_whom_and_the_caps(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "on", "--yes")
    for part in (
        "at most 8000 characters",
        "your own Claude Code (haiku)",
        "on your account",
        "Never the contents of files",
        "50000 tokens and $0.25 a day",
        "100000 tokens and $0.5 for one work",
        "`flowd model off`",
    ):
        assert part in text
    assert "model on (Claude Code (haiku)): 0 calls, 0 of 50000 tokens today" in printed(capsys, "status")


def test_without_a_terminal_nobody_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "flowd", "model", "on"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "flowd model on --yes" in ran.stderr
    assert not json.loads(printed(capsys, "status", "--json"))["is_on"]


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_the_answer_counts(
    answer: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda _: answer)
    assert main(["model", "on"]) == code
    capsys.readouterr()
    assert json.loads(printed(capsys, "status", "--json"))["is_on"] == (code == 0)


def test_off_takes_the_consent_back(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "on", "--yes")
    printed(capsys, "off")
    assert not json.loads(printed(capsys, "status", "--json"))["is_on"]


def test_another_program_needs_another_consent(capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "on", "--yes")
    file = resolve_paths().config_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("model: {command: [llm, --json]}\n")
    text = printed(capsys, "status")
    assert "you agreed to Claude Code (haiku), the settings name llm --json; run `flowd model on`" in text


def test_without_a_work_there_is_nothing_to_preview(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["model", "preview"]) == 1
    assert "there is no work here yet" in capsys.readouterr().err
