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
# The module of each verb, and the function in it that adds the verb (default: add_parser).
VERBS = {
    "init": "flowd.cli.flow.handoff_file:add_init",
    "save": "flowd.cli.flow.save",
    "show": "flowd.cli.flow.show",
    "next": "flowd.cli.flow.steps:add_next",
    "done": "flowd.cli.flow.steps:add_done",
    "drop": "flowd.cli.flow.steps:add_drop",
    "inject": "flowd.cli.flow.inject",
    "sessions": "flowd.cli.flow.show:add_sessions",
    "handoff": "flowd.cli.flow.handoff",
    "escalate": "flowd.cli.flow.handoff.documents:add_escalate",
    "trust": "flowd.cli.flow.handoff_file:add_trust",
    "thread": "flowd.cli.flow.thread",
    "extract": "flowd.cli.flow.extract",
    "block": "flowd.cli.flow.block",
    "context": "flowd.cli.flow.context",
    "knowledge": "flowd.cli.flow.knowledge",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flow", ABOUT, EXAMPLES, VERBS, argv)
