"""``flowd install --plugin``: registered once by the client's own command, from this very copy."""

import json
import sys
from pathlib import Path

import pytest

from flowd.cli.flowd import main
from flowd.cli.flowd.install.plugin import plugin_dir

# Keeps its marketplaces and plugins where Claude Code does, and notes how it was called.
STAND_IN = """\
#!{python}
import json, os, pathlib, sys
home = pathlib.Path(os.environ["HOME"])
words = sys.argv[2:]
with (home / "calls").open("a") as calls:
    calls.write(" ".join(words) + "\\n")
known = home / ".claude/plugins/known_marketplaces.json"
settings = home / ".claude/settings.json"
known.parent.mkdir(parents=True, exist_ok=True)
places = json.loads(known.read_text()) if known.exists() else {{}}
chosen = json.loads(settings.read_text()) if settings.exists() else {{"enabledPlugins": {{}}}}
if words[:2] == ["marketplace", "add"]:
    places["flowd"] = {{"source": {{"source": "directory", "path": words[2]}}}}
elif words[:2] == ["marketplace", "remove"]:
    del places["flowd"]
elif words[0] == "install":
    if "flowd" not in places:
        sys.exit("marketplace not found")
    chosen["enabledPlugins"][words[1]] = True
else:
    del chosen["enabledPlugins"][words[1]]
known.write_text(json.dumps(places))
settings.write_text(json.dumps(chosen))
"""
ADD = f"marketplace add {plugin_dir()}"


@pytest.fixture
def claude(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = private_home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def calls(home: Path) -> list[str]:
    file = home / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_the_plugin_is_part_of_what_is_installed() -> None:
    marketplace = json.loads((plugin_dir() / ".claude-plugin" / "marketplace.json").read_text())
    assert [(plugin["name"], plugin["source"]) for plugin in marketplace["plugins"]] == [("flowd", "./")]
    assert (plugin_dir() / "hooks" / "forward.sh").is_file()


def test_the_plugin_is_registered_once(
    claude: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "--plugin"]) == 0
    assert main(["install", "--plugin"]) == 0
    assert calls(private_home) == [ADD, "install flowd@flowd"]
    assert "already registered with Claude Code" in capsys.readouterr().out


def test_the_plugin_of_an_earlier_copy_is_replaced(claude: Path, private_home: Path) -> None:
    known = private_home / ".claude" / "plugins" / "known_marketplaces.json"
    known.parent.mkdir(parents=True)
    known.write_text(json.dumps({"flowd": {"source": {"source": "directory", "path": "/gone/plugin"}}}))
    assert main(["install", "--plugin"]) == 0
    assert calls(private_home) == ["marketplace remove flowd", ADD, "install flowd@flowd"]


def test_a_dry_run_prints_the_commands_and_runs_none(
    claude: Path, private_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "--plugin", "--dry-run"]) == 0
    assert calls(private_home) == []
    assert f"would run  claude plugin {ADD}" in capsys.readouterr().out


def test_uninstall_removes_plugin_and_marketplace(claude: Path, private_home: Path) -> None:
    assert main(["install", "--plugin"]) == 0
    (private_home / "calls").unlink()
    assert main(["uninstall", "--plugin"]) == 0
    assert main(["uninstall", "--plugin"]) == 0
    assert calls(private_home) == ["uninstall flowd@flowd", "marketplace remove flowd"]


def test_a_missing_client_is_named_with_the_command_for_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert main(["install", "--plugin"]) == 1
    printed = capsys.readouterr().err
    assert "the command `claude` is not on the PATH" in printed
    assert f"claude plugin {ADD}" in printed


def test_a_flowd_off_the_path_is_named(claude: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["install", "--plugin"]) == 0
    assert "flowd is not on the PATH: run `flowd install --mcp` too" in capsys.readouterr().out
    (claude.parent / "flowd").symlink_to("/bin/true")
    assert main(["install", "--plugin"]) == 0
    assert "not on the PATH" not in capsys.readouterr().out
