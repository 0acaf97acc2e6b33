"""Escalate to a person through a handoff document, and acknowledge escalations."""

import os

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff.create import draft_document, index_document, write_document
from flowd.actions.handoff.project import ProjectHandoffs
from flowd.handoff.markdown.directory import replace_file
from flowd.handoff.markdown.document import SIGNAL
from flowd.handoff.markdown.parse import MAX_READ_BYTES, decoded, read_bytes
from flowd.handoff.markdown.render import one_line
from flowd.store.documents import Escalation, acknowledging_facts, open_escalations
from flowd.system.errors import FlowdError


def escalate(handoffs: ProjectHandoffs, reason: str) -> str:
    """Append an escalation to the newest handoff, a new one without any; return its path."""
    reason = one_line(handoffs.context.redact(reason))
    if not reason:
        raise FlowdError(
            "an escalation needs a reason", hint='try: flow escalate "the migration drops a table"'
        )
    document = handoffs.newest or write_document(handoffs, draft_document(handoffs, "manual"))
    path = document.file.path
    index_document(handoffs, path, _append_signal(path, reason))
    poke_daemon(handoffs.context.paths)
    return path


def acknowledge(handoffs: ProjectHandoffs, name: str | None, *, every_project: bool) -> list[Escalation]:
    """Record that a person has seen the open escalations, of one file if *name* is given; return them."""
    found = _find(handoffs, name, every_project=every_project)
    if found:
        handoffs.journal.append(*acknowledging_facts(handoffs.journal, found))
        poke_daemon(handoffs.context.paths)
    return found


def _append_signal(path: str, reason: str) -> str:
    data = read_bytes(path)
    if len(data) >= MAX_READ_BYTES:
        raise FlowdError(
            f"{path} is too large to append to", hint="write a new one with `flow handoff create`"
        )
    text = decoded(data)
    text = f"{text}{'' if text.endswith(chr(10)) else chr(10)}\n{SIGNAL}: {reason}\n"
    replace_file(path, text)
    return text


def _find(handoffs: ProjectHandoffs, name: str | None, *, every_project: bool) -> list[Escalation]:
    waiting = open_escalations(handoffs.journal) if every_project else handoffs.escalations
    if name is None:
        return waiting
    stem = os.path.basename(name)
    found = [escalation for escalation in waiting if os.path.basename(escalation.path).startswith(stem)]
    if not found:
        raise FlowdError(f"no open escalation in {name!r}", hint="list them with `flow handoff log`")
    return found
