"""The threads that Claude Chat and Claude Code share; each operation is a method of ``Threads``."""

from flowd.actions.context import Context
from flowd.store.threads.threads import Threads


def open_threads(context: Context) -> Threads:
    """Return the threads of core.db; what their operations return is durable."""
    return Threads(context.database, context.redact.redactor)
