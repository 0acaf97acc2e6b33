"""The parameters of the tools: parsed strictly, then executed on the threads."""

import msgspec

from flowd.store.threads.records import (
    CLIENTS,
    ENTRY_TYPES,
    Client,
    EntryAdded,
    EntryType,
    ThreadClosed,
    ThreadCreated,
    ThreadError,
    ThreadMarked,
    ThreadRetrieved,
)
from flowd.store.threads.threads import Threads

Result = ThreadCreated | ThreadRetrieved | EntryAdded | ThreadMarked | ThreadClosed


class CreateRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of create_handoff."""

    title: str
    content: str
    project: str | None = None
    as_client: Client | None = None

    def carry_out(self, threads: Threads) -> Result:
        """Create the thread."""
        return threads.create(
            title=self.title,
            content=self.content,
            project=self.project,
            client=self.as_client or "chat",
        )


class GetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of get_handoff."""

    id: str
    as_client: Client | None = None

    def carry_out(self, threads: Threads) -> Result:
        """Return the thread and its new entries."""
        return threads.get(handoff_id=self.id, client=self.as_client or "chat")


class AddRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of add_to_handoff."""

    id: str
    type: EntryType
    content: str
    as_client: Client | None = None

    def carry_out(self, threads: Threads) -> Result:
        """Append the entry."""
        return threads.add(
            handoff_id=self.id,
            entry_type=self.type,
            content=self.content,
            client=self.as_client or "chat",
        )


class MarkReadRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of mark_handoff_read."""

    id: str
    as_client: Client | None = None

    def carry_out(self, threads: Threads) -> Result:
        """Move the client's cursor to the latest entry."""
        return threads.mark_read(handoff_id=self.id, client=self.as_client or "chat")


class CloseRequest(msgspec.Struct, frozen=True):
    """The parameters of close_handoff; as_client, which Claude Code always sends, is ignored."""

    id: str

    def carry_out(self, threads: Threads) -> Result:
        """Complete the thread and delete its entries."""
        return threads.close(handoff_id=self.id)


Request = CreateRequest | GetRequest | AddRequest | MarkReadRequest | CloseRequest


def parse(kind: type[Request], given: dict[str, object]) -> Request:
    """Return *given* as *kind*; raise ThreadError naming the wrong parameter without its value."""
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        raise ThreadError(f"Wrong parameters: {_explained(error, kind)}.") from error


def _explained(error: msgspec.ValidationError, kind: type[Request]) -> str:
    # msgspec names a bad enum value but not the valid ones, which a model needs to correct its call.
    for name, words in (("as_client", CLIENTS), ("type", ENTRY_TYPES)):
        if f"$.{name}`" in str(error):
            return f"{name} must be one of {', '.join(words)}"
    return f"{error} (the parameters are {', '.join(kind.__struct_fields__)})"
