"""A stand-in for the Claude Code client."""

from collections.abc import Callable
from pathlib import Path

from tests.support.repository import ROOT

CLAUDE_STAND_IN = ROOT / "tests" / "support" / "stand_ins" / "claude.py"
InstallClient = Callable[..., Path]
