"""``flowd install --mcp`` with the real client: registered once, connected, and gone again."""

import sys
from pathlib import Path

from tests.e2e.client import Ran, run_program
from tests.e2e.place import Place, RunClaude

# The step alone: these tests leave the service manager of this machine out of it.
STEP = """\
import argparse, sys
from flowd.cli.flowd.install import mcp as install_mcp
from flowd.config.paths import resolve_paths
parser = argparse.ArgumentParser()
install_mcp.add_options(parser)
parser.add_argument("--dry-run", action="store_true")
getattr(install_mcp, sys.argv[1])(resolve_paths(), parser.parse_args(sys.argv[2:]))
"""


def step(place: Place, claude: Path, *words: str) -> Ran:
    usual = Path(place.environment["HOME"]) / ".local" / "bin" / "claude"
    usual.parent.mkdir(parents=True, exist_ok=True)
    if not usual.exists():
        usual.symlink_to(claude)
    ran = run_program([sys.executable, "-c", STEP, *words], place.environment, place.project)
    assert ran.returncode == 0, ran.stderr
    return ran


def test_the_real_client_is_registered_once_connects_and_forgets(
    claude: Path, place: Place, run_claude: RunClaude
) -> None:
    assert "ran  claude mcp add-json --scope user flowd" in step(place, claude, "install", "--mcp").stdout
    assert "already registered with Claude Code" in step(place, claude, "install", "--mcp").stdout
    assert "Connected" in run_claude("mcp", "list").stdout
    assert "ran  claude mcp remove --scope user flowd" in step(place, claude, "uninstall").stdout
    assert "flowd" not in run_claude("mcp", "list").stdout
