"""Handoff threads as frozen values that encode to the shapes the specification names."""

from typing import Literal, TypeVar

import msgspec

from flowd.redaction.redactor import Redactor
from flowd.system.errors import FlowdError

Client = Literal["chat", "code"]
EntryType = Literal["context", "task", "progress", "question", "decision", "done"]
CLIENTS: tuple[Client, ...] = ("chat", "code")
ENTRY_TYPES: tuple[EntryType, ...] = ("context", "task", "progress", "question", "decision", "done")


class ThreadRecord(msgspec.Struct, frozen=True):
    """One working session that spans both clients."""

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
    """One message of a handoff; ``seq`` rises over all handoffs and is never used again."""

    seq: int
    handoff_id: str
    from_client: str
    type: str
    content: str
    created_at: str | None


class ThreadCreated(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new handoff and its first entry. ``redacted`` names the kinds of secrets left out."""

    handoff: ThreadRecord
    entries: tuple[ThreadEntry, ...]
    redacted: tuple[str, ...] = ()


class ThreadRetrieved(msgspec.Struct, frozen=True):
    """A handoff with all its entries, and those that the asking client has not seen."""

    handoff: ThreadRecord
    entries: tuple[ThreadEntry, ...]
    new_entries: tuple[ThreadEntry, ...]
    new_count: int


class EntryAdded(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new entry, and what the other side had written that the writer's cursor passed over."""

    handoff: ThreadRecord
    entry: ThreadEntry
    missed_entries: tuple[ThreadEntry, ...]
    redacted: tuple[str, ...] = ()


class ThreadMarked(msgspec.Struct, frozen=True):
    """Where the client's cursor stands now."""

    marked_read: bool
    client: Client
    last_seen: int


class ThreadClosed(msgspec.Struct, frozen=True):
    """The handoff is completed and its entries are gone."""

    closed: bool
    id: str
    title: str


class ThreadCounts(msgspec.Struct, frozen=True):
    """What status may tell of the threads: numbers, never contents."""

    active: int
    unread_chat: int
    unread_code: int


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


class ThreadText:
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
