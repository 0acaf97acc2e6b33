"""Fixtures of the commands' tests: programs on the PATH that are not the real ones."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.daemon_home import DaemonHome
from tests.support.stand_in_programs import CLAUDE_STAND_IN, STAND_IN, InstallClient, Managers


@pytest.fixture
def managers(daemon_home: DaemonHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Managers:
    """Put stand-ins for systemctl and launchctl before everything else on the PATH."""
    state, programs = tmp_path / "managers", tmp_path / "bin"
    state.mkdir()
    programs.mkdir()
    for name in ("systemctl", "launchctl"):
        (programs / name).write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{STAND_IN}" "{state}" {name} "$@"\n'
        )
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    daemon_home.env["PATH"] = os.environ["PATH"]
    return Managers(state)


@pytest.fixture
def install_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstallClient:
    """Put a stand-in for Claude Code on the PATH: ``install_client("2.1.75", "Stop", "PreCompact")``."""
    programs = tmp_path / "client"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")

    def install(version: str, *events: str) -> Path:
        program = programs / "claude"
        program.write_text(
            f'#!/bin/sh\nexec "{sys.executable}" "{CLAUDE_STAND_IN}" {version} {",".join(events)} "$@"\n'
        )
        program.chmod(0o755)
        return program

    return install
