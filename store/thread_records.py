"""Handoff threads as frozen values that encode to the shapes the specification names."""

from typing import Literal

import msgspec

Client = Literal["chat", "code"]
EntryType = Literal["context", "task", "progress", "question", "decision", "done"]
CLIENTS: tuple[Client, ...] = ("chat", "code")
ENTRY_TYPES: tuple[EntryType, ...] = ("context", "task", "progress", "question", "decision", "done")


class Handoff(msgspec.Struct, frozen=True):
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


class Entry(msgspec.Struct, frozen=True):
    """One message of a handoff; ``seq`` rises over all handoffs and is never used again."""

    seq: int
    handoff_id: str
    from_client: str
    type: str
    content: str
    created_at: str | None


class Created(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new handoff and its first entry. ``redacted`` names the kinds of secrets left out."""

    handoff: Handoff
    entries: tuple[Entry, ...]
    redacted: tuple[str, ...] = ()


class Retrieved(msgspec.Struct, frozen=True):
    """A handoff with all its entries, and those that the asking client has not seen."""

    handoff: Handoff
    entries: tuple[Entry, ...]
    new_entries: tuple[Entry, ...]
    new_count: int


class Added(msgspec.Struct, frozen=True, omit_defaults=True):
    """A new entry, and what the other side had written that the writer's cursor passed over."""

    handoff: Handoff
    entry: Entry
    missed_entries: tuple[Entry, ...]
    redacted: tuple[str, ...] = ()


class Marked(msgspec.Struct, frozen=True):
    """Where the client's cursor stands now."""

    marked_read: bool
    client: Client
    last_seen: int


class Closed(msgspec.Struct, frozen=True):
    """The handoff is completed and its entries are gone."""

    closed: bool
    id: str
    title: str


class Counts(msgspec.Struct, frozen=True):
    """What status may tell of the threads: numbers, never contents."""

    active: int
    unread_chat: int
    unread_code: int
