"""``flowd config``: the settings in force, and why."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from flowd.cli.flowd import main
from flowd.cli.output import WIDTH
from flowd.config.paths import resolve_paths


@pytest.fixture
def file() -> Path:
    """Where the person's settings are; the directory is there, the file is not."""
    file = resolve_paths().config_file
    file.parent.mkdir(parents=True)
    return file


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["config", *words]) == 0
    return capsys.readouterr().out


def test_every_setting_is_shown_with_its_origin(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("idle:\n  after_minutes: 5\n")
    lines = printed(capsys).splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "FROM"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["watch.poll_s"] == ["2.0", "default"]
    assert rows["store.path"] == ["-", "default"]
    assert rows["idle.after_minutes"][0] == "5.0"
    assert rows["idle.after_minutes"][1].endswith("config.yaml")
    assert max(map(len, lines)) <= WIDTH


def test_json_has_the_value_and_the_whole_path(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("redaction:\n  patterns: ['a+']\n")
    answer: dict[str, Any] = json.loads(printed(capsys, "--json"))["settings"]
    assert answer["redaction.patterns"] == {"value": ["a+"], "from": str(file)}
    assert answer["serve.enabled"] == {"value": False, "from": "default"}


def test_the_path_is_said_even_when_the_file_is_wrong(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("[")
    assert printed(capsys, "--path") == f"{file}\n"


def test_the_defaults_are_printed_with_their_comments(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "--defaults")
    assert yaml.safe_load(text)["idle"] == {"after_minutes": 30}
    assert "# A session is idle after" in text


def test_a_wrong_setting_is_one_line_and_a_hint_and_exit_one(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("idle:\n  after_minuts: 5\n")
    assert main(["config"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        f"flowd: {file}: unknown key idle.after_minuts (value 5)\n  did you mean idle.after_minutes?\n"
    )
