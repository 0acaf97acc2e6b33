"""``flow show``: the screen, at any width, and where something is wrong."""

from pathlib import Path

import pytest

from flowd.cli.flow import main
from flowd.cli.output import text_width


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_screen_fits_the_terminal(
    project: Path, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("COLUMNS", str(columns))
    shown(capsys, "save", "Parser done " * 12, "--goal", "Ship the 日本 parser " * 9)
    lines = shown(capsys, "show").splitlines()
    assert max(map(text_width, lines[1:])) <= columns


def test_a_broken_file_is_named_with_its_line_and_no_log_line_is_printed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    (project / ".flow-guardian").mkdir()
    (project / ".flow-guardian" / "handoff.yaml").write_text("goal: [unclosed\n")
    page = shown(capsys, "show")
    assert "handoff.yaml cannot be used" in page
    assert "line 2" in page
    assert "handoff_not_loaded" not in page
