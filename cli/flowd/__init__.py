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
# The module of each verb, and the function in it that adds the verb (default: add_parser).
VERBS = {
    "run": "flowd.cli.flowd.run",
    "start": "flowd.cli.flowd.lifecycle:add_start",
    "stop": "flowd.cli.flowd.lifecycle:add_stop",
    "restart": "flowd.cli.flowd.lifecycle:add_restart",
    "status": "flowd.cli.flowd.status",
    "logs": "flowd.cli.flowd.logs",
    "config": "flowd.cli.flowd.config",
    "retry": "flowd.cli.flowd.lifecycle:add_retry",
    "install": "flowd.cli.flowd.install.install",
    "uninstall": "flowd.cli.flowd.install.install:add_uninstall",
    "doctor": "flowd.cli.flowd.doctor",
    "restore-backup": "flowd.cli.flowd.restore_backup",
    "mcp": "flowd.cli.flowd.mcp:add_mcp",
    "serve": "flowd.cli.flowd.mcp:add_serve",
    "completion": "flowd.cli.completion",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flowd", ABOUT, EXAMPLES, VERBS, argv)
