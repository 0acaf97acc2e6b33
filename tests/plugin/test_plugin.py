"""The plugin's files agree with the program they belong to."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from flowd import __version__
from flowd.cli.flow import VERBS
from flowd.config.paths import resolve_paths
from flowd.hooks.command import TIMEOUTS_S, write_launcher
from tests.support.repository import ROOT

PLUGIN = ROOT / "plugin"


def test_the_plugin_has_the_version_of_the_program() -> None:
    assert json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())["version"] == __version__


def test_the_plugin_has_the_same_hooks_as_the_settings() -> None:
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    timeouts = {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}
    assert timeouts == TIMEOUTS_S
    for event, groups in hooks.items():
        assert groups[0]["hooks"][0]["command"] == f'sh "${{CLAUDE_PLUGIN_ROOT}}/hooks/forward.sh" {event}'


@pytest.mark.parametrize("file", sorted((PLUGIN / "commands").glob("*.md")), ids=lambda file: str(file.stem))
def test_every_command_runs_a_verb_that_there_is(file: Path) -> None:
    text = file.read_text()
    called = set(re.findall(r"\bflow ([a-z]+)", text))
    assert called
    assert called <= set(VERBS)


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_the_plugin_finds_flowd_by_its_note_and_is_silent_without(shell: str, private_home: Path) -> None:
    def forward() -> tuple[int, str]:
        ran = subprocess.run(
            [shell, str(PLUGIN / "hooks" / "forward.sh"), "SubagentStop"],
            input="{}",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return ran.returncode, ran.stdout

    assert forward() == (0, "")
    write_launcher(resolve_paths())
    assert forward() == (0, "")
    log = resolve_paths().log_dir / "hooks.log"
    assert " SubagentStop away-dropped " in log.read_text()
    assert os.stat(resolve_paths().state_dir / "hook.sh").st_mode & 0o777 == 0o700
