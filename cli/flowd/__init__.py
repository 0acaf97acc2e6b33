"""``flowd``: control the daemon."""

from collections.abc import Sequence

from flowd.cli.main import run_command

ABOUT = "flowd hands your work with Claude Code over from one session to the next."
EXAMPLES = """\
examples:
  flowd start            start in the background
  flowd status           show health, sessions and sinks
  flowd install          start at every login
  flowd doctor           check everything, with a fix for each problem
"""
VERBS = {
    "run": "flowd.cli.flowd.run",
    "start": "flowd.cli.flowd.start",
    "stop": "flowd.cli.flowd.stop",
    "restart": "flowd.cli.flowd.restart",
    "status": "flowd.cli.flowd.status",
    "logs": "flowd.cli.flowd.logs",
    "config": "flowd.cli.flowd.config",
    "retry": "flowd.cli.flowd.retry",
    "install": "flowd.cli.flowd.install.install",
    "uninstall": "flowd.cli.flowd.install.uninstall",
    "doctor": "flowd.cli.flowd.doctor",
    "restore-backup": "flowd.cli.flowd.restore_backup",
    "mcp": "flowd.cli.flowd.mcp",
    "serve": "flowd.cli.flowd.serve",
    "completion": "flowd.cli.completion",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flowd", ABOUT, EXAMPLES, VERBS, argv)
