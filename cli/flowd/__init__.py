"""``flowd``: the daemon's own command."""

from collections.abc import Sequence

from flowd.cli.main import run_command

ABOUT = "flowd keeps the thread of your work with Claude from breaking."
EXAMPLES = """\
examples:
  flowd start            start it in the background
  flowd status           how it is
  flowd install          start it at every login
  flowd doctor           check everything, with a fix for each trouble
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
