"""``flow``: what people and agents type while they work."""

from collections.abc import Sequence

from flowd.cli.funnel import run_command

ABOUT = "flow: your side of the thread that flowd keeps."
EXAMPLES = """\
examples:
  flow thread create "Auth redesign" "We decided on JWT"   hand something to the other client
  flow extract SESSION.jsonl                               the state flowd reads from a transcript
"""
VERBS = {
    "thread": "flowd.cli.thread",
    "extract": "flowd.cli.extract",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    return run_command("flow", ABOUT, EXAMPLES, VERBS, argv)
