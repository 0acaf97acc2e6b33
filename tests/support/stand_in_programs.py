"""Stand-ins for systemctl, launchctl and the Claude Code client."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.repository import ROOT

CLAUDE_STAND_IN = ROOT / "tests" / "support" / "stand_ins" / "claude.py"
InstallClient = Callable[..., Path]
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
