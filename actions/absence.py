"""Since when flowd has been stopped or hung, as one line for whoever reads its notes."""

import os
from collections.abc import Callable
from contextlib import suppress

from flowd.actions.context import Context
from flowd.actions.daemon_client import ask, control_socket, running_holder
from flowd.store.sources import last_read_at
from flowd.system.errors import FlowdError, StoreError
from flowd.system.times import age, local_minute

ANSWER_S = 0.5


def absence(context: Context, *, answers: Callable[[Context], bool] | None = None) -> str:
    """Return since when flowd has been stopped or hung, empty while it answers."""
    holder = running_holder(context.paths.lock)
    if holder is None:
        return _line("has not been running", _stopped_at(context), "start")
    if (answers or _answers)(context):
        return ""
    return _line("has not answered", _last_read(context) or holder.started_at, "restart")


def _line(what: str, since: float, cure: str) -> str:
    if not since:
        return f"flowd is not running: what happens in sessions is missing here. Run `flowd {cure}`."
    when = f"since {local_minute(since)} ({age(since)})"
    return f"flowd {what} {when}: what happened after that is missing here. Run `flowd {cure}`."


def _answers(context: Context) -> bool:
    try:
        ask(control_socket(context.paths), "ping", deadline_s=ANSWER_S)
    except FlowdError:
        return False
    return True


def _stopped_at(context: Context) -> float:
    """Return when flowd was stopped, or read anything last if it was killed; 0.0 if it never ran."""
    with suppress(OSError):
        status = os.stat(context.paths.lock)
        if not status.st_size:  # a stopping daemon empties the file
            return status.st_mtime
    return _last_read(context)


def _last_read(context: Context) -> float:
    try:
        return last_read_at(context.database)
    except StoreError:
        return 0.0
