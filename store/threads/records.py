"""The values of threads, in the JSON shapes of the specification, and the checks of their texts."""

from typing import Literal, TypeVar

import msgspec

from flowd.redaction.redactor import Redactor
from flowd.system.errors import FlowdError

Client = Literal["chat", "code"]
EntryType = Literal["context", "task", "progress", "question", "decision", "done"]
CLIENTS: tuple[Client, ...] = ("chat", "code")
ENTRY_TYPES: tuple[EntryType, ...] = ("context", "task", "progress", "question", "decision", "done")


class ThreadRecord(msgspec.Struct, frozen=True):
    """A thread: one working session that spans both clients."""

    id: str
    title: str
    project: str | None
    chat_last_seen: int
    code_last_seen: int
    status: str
    created_at: str | None
    updated_at: str | None

    def last_seen(self, client: Client) -> int:
        """Return the sequence number up to which *client* has seen the entries."""
        return self.chat_last_seen if client == "chat" else self.code_last_seen


class ThreadEntry(msgspec.Struct, frozen=True):
    """One entry of a thread; ``seq`` increases over all threads and is never reused."""

    seq: int
    handoff_id: str
    from_client: str
    type: str
    content: str
    created_at: str | None


class ThreadRow(msgspec.Struct, frozen=True):
    """One thread in the list: how many entries it has, and how many each client has not seen."""

    id: str
    title: str
    project: str | None
    status: str
    entries: int
    unread_chat: int
    unread_code: int
    updated_at: str | None


class ThreadCreated(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new thread and its first entry. ``redacted`` names the kinds of masked secrets."""

    handoff: ThreadRecord
    entries: tuple[ThreadEntry, ...]
    redacted: tuple[str, ...] = ()


class ThreadRetrieved(msgspec.Struct, frozen=True):
    """A thread with all its entries, and those that the client has not seen."""

    handoff: ThreadRecord
    entries: tuple[ThreadEntry, ...]
    new_entries: tuple[ThreadEntry, ...]
    new_count: int


class EntryAdded(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new entry, and the other client's entries that its writer had not seen."""

    handoff: ThreadRecord
    entry: ThreadEntry
    missed_entries: tuple[ThreadEntry, ...]
    redacted: tuple[str, ...] = ()


class ThreadMarked(msgspec.Struct, frozen=True):
    """The client's new cursor."""

    marked_read: bool
    client: Client
    last_seen: int


class ThreadClosed(msgspec.Struct, frozen=True):
    """A completed thread; its entries were deleted."""

    closed: bool
    id: str
    title: str


class ThreadCounts(msgspec.Struct, frozen=True):
    """The counts that status shows; never any content."""

    active: int
    unread_chat: int
    unread_code: int


ENTRY_LIMIT_BYTES = 1024 * 1024
LABEL_LIMIT_BYTES = 4096

Word = TypeVar("Word", bound=str)


class ThreadError(FlowdError):
    """A rejected thread operation; nothing was stored."""


def one_of(name: str, value: str, allowed: tuple[Word, ...]) -> Word:
    """Return *value* if it is one of *allowed*; else raise ThreadError."""
    for word in allowed:
        if word == value:
            return word
    raise ThreadError(f"{name} must be one of {', '.join(allowed)}; got {value[:40]!r}.")


def check_text(name: str, text: str, limit_bytes: int) -> None:
    """Raise ThreadError if *text* is not valid Unicode or longer than *limit_bytes*."""
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


class ThreadText:
    """Checks and redacts the texts of one write; collects the kinds of masked secrets."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self.redacted: tuple[str, ...] = ()

    def checked(self, name: str, text: str, limit_bytes: int) -> str:
        """Return *text* with secrets masked; text without secrets is unchanged."""
        check_text(name, text, limit_bytes)
        kinds = {secret.kind for secret in self._redactor.find(text)}
        if not kinds:
            return text
        self.redacted = tuple(sorted(kinds.union(self.redacted)))
        return self._redactor(text)
