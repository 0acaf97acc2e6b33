"""``flow``: what people and agents type while they work."""

from collections.abc import Sequence

from flowd.cli.main import run_command

ABOUT = "flow: see and change what flowd hands over to the next session."
EXAMPLES = """\
examples:
  flow show                               the state of the work in this project
  flow save "Parser done, tests next"     set it yourself; your words stay
  flow next                               the open steps, numbered
  flow inject                             the briefing for the next session
  flow sessions --all                     every session that flowd has followed
"""
VERBS = {
    "init": "flowd.cli.flow.init",
    "save": "flowd.cli.flow.save",
    "show": "flowd.cli.flow.show",
    "next": "flowd.cli.flow.next",
    "done": "flowd.cli.flow.done",
    "drop": "flowd.cli.flow.drop",
    "inject": "flowd.cli.flow.inject",
    "sessions": "flowd.cli.flow.sessions",
    "handoff": "flowd.cli.flow.handoff",
    "escalate": "flowd.cli.flow.escalate",
    "trust": "flowd.cli.flow.trust",
    "thread": "flowd.cli.flow.thread",
    "extract": "flowd.cli.flow.extract",
    "block": "flowd.cli.flow.block",
    "context": "flowd.cli.flow.context",
    "knowledge": "flowd.cli.flow.knowledge",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flow", ABOUT, EXAMPLES, VERBS, argv)
