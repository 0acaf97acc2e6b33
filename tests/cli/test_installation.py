"""Hints name the command that installs this very copy again, however it was installed."""

import sys
from pathlib import Path
from typing import Any

import pytest

from flowd.cli import installation
from flowd.cli.installation import (
    Installation,
    install_command,
    permanent_install_command,
    this_installation,
)

CLONE = {"url": "file:///home/me/my%20flowd", "dir_info": {}}
EDITABLE = {"url": "file:///home/me/flowd", "dir_info": {"editable": True}}
WHEEL = {"url": "file:///home/me/flowd_handoff-0.1.0-py3-none-any.whl", "archive_info": {}}
GIT = {"url": "https://example.org/flowd.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
TAG = {"url": "https://example.org/flowd.git", "vcs_info": {"vcs": "git", "requested_revision": "v1"}}


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (CLONE, "'/home/me/my flowd[mcp]'"),
        (EDITABLE, "--editable '/home/me/flowd[mcp]'"),
        (WHEEL, "'flowd-handoff[mcp] @ file:///home/me/flowd_handoff-0.1.0-py3-none-any.whl'"),
        (GIT, "'flowd-handoff[mcp] @ git+https://example.org/flowd.git'"),
        (TAG, "'flowd-handoff[mcp] @ git+https://example.org/flowd.git@v1'"),
        ({}, "'flowd-handoff[mcp]'"),
    ],
)
@pytest.mark.parametrize(
    ("marker", "tool"),
    [
        ("pipx_metadata.json", "pipx install --force"),
        ("uv-receipt.toml", "uv tool install --force"),
        ("", f"{sys.executable} -m pip install"),
    ],
)
def test_the_command_installs_the_same_code_with_the_same_tool(
    origin: dict[str, Any], requirement: str, marker: str, tool: str, tmp_path: Path
) -> None:
    if marker:
        (tmp_path / marker).touch()
    here = Installation(tmp_path, origin)
    assert install_command(here) == f"{tool} {requirement}"
    assert permanent_install_command(here) == f"pipx install {requirement}"


def test_an_environment_without_pip_is_one_of_uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "find_spec", lambda _: None)
    command = install_command(Installation(tmp_path, CLONE))
    assert command == f"uv pip install --python {sys.executable} '/home/me/my flowd[mcp]'"


def test_this_copy_is_known_by_its_distribution() -> None:
    assert this_installation().prefix == Path(sys.prefix)
    assert "flowd-handoff" in install_command(Installation(Path(sys.prefix), {}))
