"""``flow``: what people and agents type while they work."""

from collections.abc import Sequence

from flowd.cli.funnel import run_command

ABOUT = "flow: your side of the thread that flowd keeps."
EXAMPLES = """\
examples:
  flow show                               where the work in this project stands
  flow save "Parser done, tests next"     say it yourself; your words stay
  flow inject                             what the next session will be told
  flow sessions --all                     every session flowd has followed
"""
VERBS = {
    "init": "flowd.cli.init",
    "save": "flowd.cli.save",
    "show": "flowd.cli.show",
    "inject": "flowd.cli.inject",
    "sessions": "flowd.cli.sessions",
    "handoff": "flowd.cli.handoff",
    "escalate": "flowd.cli.escalate",
    "trust": "flowd.cli.trust",
    "thread": "flowd.cli.thread",
    "extract": "flowd.cli.extract",
    "block": "flowd.cli.block",
    "context": "flowd.cli.context",
    "knowledge": "flowd.cli.knowledge",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flow", ABOUT, EXAMPLES, VERBS, argv)
