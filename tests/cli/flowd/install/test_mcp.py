"""``flowd install --mcp``: Claude Code by its own command, Claude Desktop only when asked."""

import argparse
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from flowd.cli.flowd.install import mcp as install_mcp
from flowd.cli.flowd.install.mcp import desktop_file
from flowd.config.paths import Paths
from flowd.system.errors import FlowdError

PATHS = Paths(Path("c"), Path("d"), Path("s"), Path("r"))
# Keeps its servers where Claude Code does, and notes how it was called.
STAND_IN = """\
#!{python}
import json, os, pathlib, sys
home = pathlib.Path(os.environ["HOME"])
with (home / "calls").open("a") as calls:
    calls.write(json.dumps([sys.argv[1:], sorted(n for n in os.environ if n.startswith("CLAUDE"))]) + "\\n")
file = home / ".claude.json"
config = json.loads(file.read_text()) if file.exists() else {{"mcpServers": {{}}}}
if sys.argv[2] == "remove":
    config["mcpServers"].pop(sys.argv[5])
elif sys.argv[5] in config["mcpServers"]:
    sys.exit("MCP server already exists")
else:
    config["mcpServers"][sys.argv[5]] = json.loads(sys.argv[6])
file.write_text(json.dumps(config))
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith(("FLOWD_", "XDG_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def claude(home: Path) -> Path:
    program = home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    return program


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dry-run", action="store_true")
    install_mcp.add_options(parser)
    return parser.parse_args(words)


def install(*words: str) -> None:
    install_mcp.install(PATHS, options(*words))


def calls(home: Path) -> list[Any]:
    file = home / "calls"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_nothing_happens_unless_it_is_asked_for(home: Path, claude: Path) -> None:
    install()
    assert calls(home) == []


def test_claude_code_is_told_by_its_own_command_in_user_scope(home: Path, claude: Path) -> None:
    install("--mcp")
    ((words, _),) = calls(home)
    assert words[:5] == ["mcp", "add-json", "--scope", "user", "flowd"]
    assert json.loads(words[5]) == {
        "type": "stdio",
        "command": sys.executable,
        "args": ["-P", "-m", "flowd", "mcp"],
    }


def test_the_block_for_claude_desktop_is_printed_and_not_written(
    claude: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install("--mcp")
    printed = capsys.readouterr().out
    assert '"mcpServers": {\n    "flowd": {' in printed
    assert str(desktop_file()) in printed
    assert not desktop_file().exists()


def test_a_second_time_changes_nothing(home: Path, claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("--mcp-desktop")
    capsys.readouterr()
    install("--mcp-desktop")
    assert len(calls(home)) == 1
    assert capsys.readouterr().out.count("already registered with") == 2


def test_an_older_entry_is_replaced(home: Path, claude: Path) -> None:
    old = {"command": "/gone/python", "args": ["-P", "-m", "flowd", "mcp"]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"flowd": old}, "theme": "dark"}))
    install("--mcp")
    assert [words[1] for words, _ in calls(home)] == ["remove", "add-json"]
    config = json.loads((home / ".claude.json").read_text())
    assert config["mcpServers"]["flowd"]["command"] == sys.executable
    assert config["theme"] == "dark"


def test_the_places_of_flowds_files_are_carried_along(
    home: Path, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOWD_DATA_DIR", "/elsewhere")
    install("--mcp")
    assert json.loads(calls(home)[0][0][5])["env"] == {"FLOWD_DATA_DIR": "/elsewhere"}


def test_a_sessions_own_variables_do_not_reach_the_command(
    home: Path, claude: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_MESSAGING_TOKEN", "private")
    monkeypatch.setenv("CLAUDECODE", "1")
    install("--mcp")
    assert calls(home)[0][1] == []


def test_desktops_file_is_written_when_asked_and_the_rest_of_it_stays(claude: Path) -> None:
    file = desktop_file()
    file.parent.mkdir(parents=True)
    before = '{"globalShortcut": "Ctrl+Ü", "mcpServers": {"other": {"command": "x"}}}'
    file.write_text(before)
    file.chmod(0o640)
    install("--mcp-desktop")
    config = json.loads(file.read_text())
    assert config["globalShortcut"] == "Ctrl+Ü"
    assert config["mcpServers"]["other"] == {"command": "x"}
    assert config["mcpServers"]["flowd"]["command"] == sys.executable
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    install_mcp.uninstall(PATHS, options())
    assert file.read_text() == before
    assert [other.name for other in file.parent.iterdir()] == [file.name]


def test_desktops_file_that_flowd_made_goes_again(claude: Path) -> None:
    install("--mcp-desktop")
    install_mcp.uninstall(PATHS, options())
    assert not desktop_file().exists()


def test_a_broken_file_is_left_alone(claude: Path) -> None:
    file = desktop_file()
    file.parent.mkdir(parents=True)
    file.write_text("{broken")
    with pytest.raises(FlowdError, match="as JSON"):
        install("--mcp-desktop")
    assert file.read_text() == "{broken"


def test_a_dry_run_only_tells(home: Path, claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install("--mcp-desktop", "--dry-run")
    printed = capsys.readouterr().out
    assert "would write" in printed
    assert "would run  claude mcp add-json --scope user flowd" in printed
    assert calls(home) == []
    assert not desktop_file().exists()


def test_without_claude_the_command_to_type_is_the_hint() -> None:
    with pytest.raises(FlowdError, match="not on the PATH") as refused:
        install("--mcp")
    assert "claude mcp add-json --scope user flowd '{" in refused.value.hint


def test_what_claude_says_when_it_fails_is_passed_on(claude: Path) -> None:
    claude.write_text(f"#!{sys.executable}\nimport sys; sys.exit('no room left')\n")
    with pytest.raises(FlowdError, match="claude mcp add-json failed: no room left"):
        install("--mcp")


def test_uninstall_takes_out_what_install_put_in_and_nothing_else(home: Path, claude: Path) -> None:
    install("--mcp-desktop")
    config = json.loads(desktop_file().read_text())
    config["mcpServers"]["other"] = {"command": "x"}
    desktop_file().write_text(json.dumps(config))
    install_mcp.uninstall(PATHS, options())
    assert json.loads(desktop_file().read_text())["mcpServers"] == {"other": {"command": "x"}}
    assert json.loads((home / ".claude.json").read_text())["mcpServers"] == {}


def test_uninstall_leaves_a_server_that_only_shares_the_name(home: Path, claude: Path) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"flowd": {"command": "another", "args": []}}}')
    install_mcp.uninstall(PATHS, options())
    assert calls(home) == []
