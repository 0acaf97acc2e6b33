"""``flow escalate``: ask for a person before the next session goes on."""

import argparse
from typing import Any

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.project_handoffs import index_file, open_project
from flowd.cli.flow.handoff.create import draft_of, write
from flowd.handoff.markdown.directory import replace_file
from flowd.handoff.markdown.document import SIGNAL
from flowd.handoff.markdown.parse import MAX_READ_BYTES, decoded, read_bytes
from flowd.handoff.markdown.render import one_line
from flowd.redaction.redactor import redact
from flowd.system.errors import FlowdError


def add_parser(subparsers: Any) -> None:
    """Describe the verb."""
    parser = subparsers.add_parser(
        "escalate",
        help="ask for a person's review",
        description="Add the signal that a person is needed to this project's newest handoff.",
    )
    parser.add_argument("reason", metavar="REASON", help="what a person should look at")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Add the signal, and say where."""
    reason = one_line(redact(arguments.reason))
    if not reason:
        raise FlowdError(
            "an escalation needs a reason", hint='try: flow escalate "the migration drops a table"'
        )
    here = open_project()
    path = here.shelf[0].file.path if here.shelf else write(here, draft_of(here, "manual"))
    _add_signal(path, reason)
    index_file(here, path)
    poke_daemon()
    print(f"a person is asked for in {path}; `flow handoff ack` when it has been seen")
    return 0


def _add_signal(path: str, reason: str) -> None:
    data = read_bytes(path)
    if len(data) >= MAX_READ_BYTES:
        raise FlowdError(f"{path} is too large to add to", hint="write a new one: flow handoff create")
    text = decoded(data)
    replace_file(path, f"{text}{'' if text.endswith(chr(10)) else chr(10)}\n{SIGNAL}: {reason}\n")
