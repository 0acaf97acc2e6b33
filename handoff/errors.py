"""The errors of handoff documents; each is also the built-in error that callers already catch."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from flowd.system.errors import FlowdError, error_of_system

_REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class HandoffError(FlowdError):
    """Base of every error about a handoff document."""


class HandoffValidationError(HandoffError, ValueError):
    """The data is not a valid handoff; the message names the field."""


class BrokenHandoffError(HandoffError, ValueError):
    """The file cannot be read as a handoff: invalid YAML, too large, not a mapping, not a regular file."""


class UnsafeHandoffError(HandoffError):
    """A symbolic link would lead flowd to another file than the one it means."""


class TrackedHandoffError(HandoffError):
    """git tracks the handoff.yaml, and the user has not let flowd change it."""


class MissingFolderError(HandoffError, FileNotFoundError):
    """The project has no ``.flow-guardian`` folder."""


class HandoffPermissionError(HandoffError, PermissionError):
    """The operating system refuses to let this user read or write the file."""


class HandoffDiskError(HandoffError, OSError):
    """The disk refuses for another reason than permission: full, gone, broken."""


class HandoffBusyError(HandoffError, TimeoutError):
    """Another process held the handoff's lock past the deadline."""


@contextmanager
def wrap_os_errors(action: str, path: object) -> Iterator[None]:
    """Convert an ``OSError`` inside the block to a HandoffError that names the *action* and the *path*."""
    try:
        yield
    except HandoffError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _REFUSED:
            hint = "check who owns it and its mode, then try again"
            also = "" if reason == "Permission denied" else f": {reason}"
            raise HandoffPermissionError(f"Permission denied {action} {path}{also}", hint=hint) from error
        explained = error_of_system(error)
        hint = explained.hint if explained else ""
        raise HandoffDiskError(f"Failed {action} {path}: {reason}", hint=hint) from error


def warn(event: str, **fields: object) -> None:
    """Log *event* as a warning: something is wrong, nothing is lost."""
    # Imported here: hooks import this package too, and must not pay for what they rarely use.
    import logging

    text = " ".join(f"{name}={value!r}" for name, value in fields.items())
    logger = logging.getLogger("flowd.handoff")
    if not logger.handlers:  # without a log, as in a command, the warning must not reach the terminal
        logger.addHandler(logging.NullHandler())
    logger.warning("%s %s", event, text)
