"""``flowd``: control the daemon."""

from collections.abc import Sequence

from flowd.cli.parser import Command, Verb

ABOUT = "flowd hands your work with Claude Code over from one session to the next."
EXAMPLES = """\
examples:
  flowd setup            start it, connect it to Claude Code, check everything
  flowd start            start in the background
  flowd status           show health, sessions and sinks
  flowd install          start at every login
  flowd doctor           check everything, with a fix for each problem
"""
# The help of each verb stands here too, so that the help of the command imports no verb.
VERBS = {
    "setup": Verb("flowd.cli.flowd.setup", "set everything up, step by step"),
    "run": Verb("flowd.cli.flowd.run", "run in the foreground (for systemd and launchd)"),
    "start": Verb("flowd.cli.flowd.lifecycle:add_start", "start in the background"),
    "stop": Verb("flowd.cli.flowd.lifecycle:add_stop", "stop the daemon"),
    "restart": Verb("flowd.cli.flowd.lifecycle:add_restart", "stop and start again"),
    "status": Verb("flowd.cli.flowd.status", "show health, sessions and sinks"),
    "logs": Verb("flowd.cli.flowd.logs", "show the log"),
    "reload": Verb("flowd.cli.flowd.config:add_reload", "apply changed settings now"),
    "config": Verb("flowd.cli.flowd.config", "show and change the settings"),
    "retry": Verb("flowd.cli.flowd.lifecycle:add_retry", "retry failed deliveries now"),
    "install": Verb("flowd.cli.flowd.install.install", "start at every login"),
    "uninstall": Verb("flowd.cli.flowd.install.install:add_uninstall", "undo install; your data stays"),
    "doctor": Verb("flowd.cli.flowd.doctor", "check everything, with a fix for each problem"),
    "restore-backup": Verb("flowd.cli.flowd.restore_backup", "restore a daily backup of core.db"),
    "mcp": Verb("flowd.cli.flowd.mcp:add_mcp", "serve threads over MCP (stdio)"),
    "serve": Verb("flowd.cli.flowd.mcp:add_serve", "serve threads over MCP (HTTP)"),
    "model": Verb("flowd.cli.flowd.model", "have your model word the summaries (off by default)"),
    "completion": Verb("flowd.cli.completion", "print a shell completion script"),
}

COMMAND = Command("flowd", ABOUT, EXAMPLES, VERBS, default="status")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    from flowd.cli.main import run_command

    return run_command(COMMAND, argv)
