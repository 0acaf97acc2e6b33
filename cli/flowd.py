"""``flowd``: the daemon's own command."""

from collections.abc import Sequence

from flowd.cli.funnel import run_command

ABOUT = "flowd keeps the thread of your work with Claude from breaking."
EXAMPLES = """\
examples:
  flowd start            start it in the background
  flowd status           how it is
  flowd install          start it at every login
  flowd doctor           check everything, with a fix for each trouble
"""
VERBS = {
    "run": "flowd.cli.run",
    "start": "flowd.cli.start",
    "stop": "flowd.cli.stop",
    "restart": "flowd.cli.restart",
    "status": "flowd.cli.status",
    "logs": "flowd.cli.logs",
    "config": "flowd.cli.config",
    "retry": "flowd.cli.retry",
    "install": "flowd.cli.install",
    "uninstall": "flowd.cli.uninstall",
    "doctor": "flowd.cli.doctor",
    "mcp": "flowd.cli.mcp",
    "serve": "flowd.cli.serve",
    "completion": "flowd.cli.completion",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flowd", ABOUT, EXAMPLES, VERBS, argv)
