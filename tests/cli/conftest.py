"""What the tests of the commands share: service managers on the PATH that are not the real ones."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from tests.conftest import DaemonHome

STAND_IN = ROOT / "tests" / "support" / "stand_ins" / "manager.py"


class Managers(NamedTuple):
    """The stand-ins' memory."""

    state: Path

    def calls(self) -> list[str]:
        """Return what they were asked, in order, without the mere questions."""
        file = self.state / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line for line in lines if not {"show", "print", "is-enabled"} & set(line.split())]

    def pid(self) -> int:
        """Return the process they started last."""
        return int((self.state / "pid").read_text())

    def go_away(self) -> None:
        """Be unreachable from now on."""
        (self.state / "away").touch()


@pytest.fixture
def managers(daemon_home: "DaemonHome", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Managers:
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
