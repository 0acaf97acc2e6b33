"""``flow``: what people and agents type while they work."""

from collections.abc import Sequence

from flowd.cli.parser import Command, Verb

ABOUT = "flow: see and change what flowd hands over to the next session."
EXAMPLES = """\
examples:
  flow show                               the state of the work in this project
  flow save "Parser done, tests next"     set it yourself; your words stay
  flow next                               the open steps, numbered
  flow inject                             the briefing for the next session
  flow sessions --all                     every session that flowd has followed
"""
# The help of each verb stands here too, so that the help of the command imports no verb.
VERBS = {
    "init": Verb("flowd.cli.flow.handoff_file:add_init", "create a handoff.yaml in this project"),
    "save": Verb("flowd.cli.flow.save", "save the state of the work in your own words"),
    "show": Verb("flowd.cli.flow.show", "show the state of the work"),
    "next": Verb("flowd.cli.flow.steps:add_next", "list the open steps"),
    "done": Verb("flowd.cli.flow.steps:add_done", "mark steps as done"),
    "drop": Verb("flowd.cli.flow.steps:add_drop", "drop steps that are not wanted any more"),
    "inject": Verb("flowd.cli.flow.inject", "print the briefing for the next session"),
    "sessions": Verb("flowd.cli.flow.show:add_sessions", "list the sessions of this project"),
    "handoff": Verb("flowd.cli.flow.handoff", "hand over to the next session, or resume from the last"),
    "escalate": Verb("flowd.cli.flow.handoff.documents:add_escalate", "ask for a person's review"),
    "trust": Verb("flowd.cli.flow.handoff_file:add_trust", "accept what came with the repository"),
    "thread": Verb("flowd.cli.flow.thread", "use the threads shared by Chat and Code"),
    "extract": Verb("flowd.cli.flow.extract", "print the state of a session, read from its transcript"),
    "block": Verb("flowd.cli.flow.block", "validate and create structured handoff blocks"),
    "context": Verb("flowd.cli.flow.context", "print what the tasks before a task found out"),
    "knowledge": Verb("flowd.cli.flow.knowledge", "search what was learned, across tasks and sessions"),
}

COMMAND = Command("flow", ABOUT, EXAMPLES, VERBS, default="show")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    from flowd.cli.main import run_command

    return run_command(COMMAND, argv)
