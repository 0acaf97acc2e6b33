"""The log of the MCP server: to standard error only, without anything that clients send."""

import logging
import sys
from typing import TextIO


class _SaysOnlyWhere(logging.Formatter):
    """Formats flowd's own events in full, those of libraries only by logger and kind.

    Their messages may quote what a client sent, and their tracebacks its values.
    """

    def format(self, record: logging.LogRecord) -> str:
        head = f"{self.formatTime(record)} {record.levelname.lower()} {record.name}"
        if record.name.startswith("flowd."):
            return f"{head} {record.getMessage()}"
        kind = record.exc_info[0] if record.exc_info else None
        failure = f" error={kind.__name__}" if kind else ""
        return f"{head} at={record.filename}:{record.lineno}{failure}"


def log_to(stream: TextIO = sys.stderr, level: str = "info") -> None:
    """Send all logging of this process to *stream*: flowd's from *level*, others' from warnings."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_SaysOnlyWhere())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("flowd").setLevel(level.upper())
