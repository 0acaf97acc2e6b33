"""One family of errors: what happened, and a hint what to do."""

import errno


class FlowdError(Exception):
    """Base of every error flowd raises on purpose."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint


class SettingsError(FlowdError):
    """An invalid setting: names file, key, value and the nearest valid key."""


class StoreError(FlowdError):
    """core.db cannot serve right now. ``condition`` is the word that status shows."""

    def __init__(self, what: str, *, condition: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.condition = condition


class NotRunningError(FlowdError):
    """The daemon did not answer."""


# Errors of the system that are the machine's state, not a fault of the program, and what helps.
_HINTS = {
    errno.EACCES: "check its owner and permissions with `ls -ld`",
    errno.EPERM: "check its owner and permissions with `ls -ld`",
    errno.EROFS: "the file system is read-only: use another directory, or mount it for writing",
    errno.ENOSPC: "free some disk space and try again",
    errno.EDQUOT: "free some of your disk quota and try again",
    errno.ENOTDIR: "a file is where a directory should be: move it away",
    errno.EISDIR: "a directory is where a file should be: move it away",
    errno.EEXIST: "something else is in its place: move it away",
    errno.ELOOP: "a symbolic link leads nowhere: remove it",
    errno.ENAMETOOLONG: "use a shorter path",
    errno.EMFILE: "raise the limit of open files with `ulimit -n 4096`",
    errno.ENFILE: "too many files are open on this machine: close some programs",
    errno.EIO: "the disk has failed to read or write: check it",
}


def error_of_system(error: BaseException) -> FlowdError | None:
    """Return the FlowdError for an error that the state of the machine explains, None for any other."""
    if not isinstance(error, OSError) or error.errno not in _HINTS:
        return None
    where = f"cannot use {error.filename}: " if error.filename else ""
    return FlowdError(f"{where}{error.strerror}", hint=_HINTS[error.errno])
