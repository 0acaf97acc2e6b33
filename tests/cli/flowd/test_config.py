"""``flowd config``: the settings in force, and why."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from flowd.cli.flowd import main
from flowd.cli.output import WIDTH
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome


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


def test_a_setting_is_set_and_unset_and_everything_else_stays(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("# mine\nidle:\n  # short\n  after_minutes: 30   # half an hour\nlog: {level: info}\n")
    printed(capsys, "set", "idle.after_minutes", "5")
    printed(capsys, "set", "tasks.globs", "[a, 'b c']")
    text = file.read_text()
    assert text == (
        "# mine\nidle:\n  # short\n  after_minutes: 5   # half an hour\nlog: {level: info}\n"
        'tasks:\n  globs: ["a", "b c"]\n'
    )
    printed(capsys, "set", "log.level", "debug")
    assert "log: {level: debug}" in file.read_text()
    printed(capsys, "unset", "idle.after_minutes")
    assert load_settings(file).settings.idle.after_minutes == 30
    assert "# short" in file.read_text()


def test_block_lists_and_empty_sections_can_be_set(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("tasks:\n  globs:\n    - one\n    - two\nidle:\nbeads:\n  enabled: true\n")
    printed(capsys, "set", "tasks.globs", "[three]")
    printed(capsys, "set", "idle.after_minutes", "7")
    printed(capsys, "set", "beads.timeout_s", "9")
    settings = load_settings(file).settings
    assert (settings.tasks.globs, settings.idle.after_minutes) == (("three",), 7)
    assert (settings.beads.enabled, settings.beads.timeout_s) == (True, 9)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "log.level", "loud"), "must be one of debug, error, info, warning"),
        (("set", "idle.after_minutes", "soon"), "must be a number of at least 0"),
        (("set", "idle.aftr", "1"), "did you mean idle.after_minutes?"),
        (("set", "beads.enabled", "perhaps"), "must be true or false"),
    ],
)
def test_what_is_wrong_is_not_set_and_the_choices_are_listed(
    file: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text("idle:\n  after_minutes: 1\n")
    assert main(["config", *words]) == 1
    assert said in capsys.readouterr().err
    assert file.read_text() == "idle:\n  after_minutes: 1\n"


def test_an_editor_opens_a_draft_that_is_saved_when_valid(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setenv("VISUAL", f"{sys.executable} {tmp_path / 'editor.py'}")
    file.write_text("log:\n  level: info\n")
    for text, code in (("log:\n  level: loud\n", 1), ("log:\n  level: debug\n", 0)):
        (tmp_path / "editor.py").write_text(f"import sys; open(sys.argv[1], 'w').write({text!r})")
        assert main(["config", "edit"]) == code
        assert ("level: debug" in file.read_text()) is (code == 0)
    assert list(file.parent.glob("*.draft")) == []


def test_without_a_terminal_the_editor_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert main(["config", "edit"]) == 1
    assert "flowd config set" in capsys.readouterr().err


def test_a_running_daemon_applies_what_is_set_and_what_is_edited(daemon_home: "DaemonHome") -> None:
    assert daemon_home.command("reload").returncode == 3
    daemon_home.start()
    assert "has applied it" in daemon_home.command("config", "set", "idle.after_minutes", "5").stdout
    assert "flowd restart" in daemon_home.command("config", "set", "store.path", "x.db").stdout
    daemon_home.paths.config_file.write_text("log:\n  level: loud\n")
    daemon_home.wait_for(lambda status: "one of debug" in status["settings_error"])
    assert daemon_home.command("reload").returncode == 1
    daemon_home.paths.config_file.write_text("")
    daemon_home.wait_for(lambda status: not status["settings_error"])
    assert daemon_home.command("reload").returncode == 0
