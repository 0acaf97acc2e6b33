"""What may be written into a thread: known words, sound text of bounded size, no secrets."""

from typing import TypeVar

from flowd.config.errors import FlowdError
from flowd.handoff.redaction import Redactor

ENTRY_LIMIT_BYTES = 1024 * 1024
LABEL_LIMIT_BYTES = 4096

Word = TypeVar("Word", bound=str)


class ThreadError(FlowdError):
    """A thread operation that was refused; nothing was stored."""


def one_of(name: str, value: str, allowed: tuple[Word, ...]) -> Word:
    """Return *value* if it is among the *allowed* words; else say which are."""
    for word in allowed:
        if word == value:
            return word
    raise ThreadError(f"{name} must be one of {', '.join(allowed)}; got {value[:40]!r}.")


def check_text(name: str, text: str, limit_bytes: int) -> None:
    """Refuse *text* that SQLite could not keep byte for byte, or that is too long to keep."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise ThreadError(
            f"{name} is not valid Unicode: a lone surrogate at position {error.start}."
        ) from error
    if size > limit_bytes:
        raise ThreadError(
            f"{name} is too large: {size:,} bytes, the limit is {limit_bytes:,}.",
            hint="split it over several entries, or name a file instead",
        )


class Wording:
    """The texts of one write: checked, redacted, and the kinds of what was left out remembered."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.redacted: tuple[str, ...] = ()

    def checked(self, name: str, text: str, limit_bytes: int) -> str:
        """Return *text* as it may be stored; without secrets in it, that is byte for byte."""
        check_text(name, text, limit_bytes)
        kinds = {secret.kind for secret in self._redactor.find(text)}
        if not kinds:
            return text
        self.redacted = tuple(sorted(kinds.union(self.redacted)))
        return self._redactor(text)
