"""What a sink is."""

from typing import Protocol

from flowd.model.facts import Fact
from flowd.system.errors import FlowdError


class PermanentFailureError(FlowdError):
    """A sink can never take this fact: it is put aside at once instead of being tried again."""


class RetryLaterError(FlowdError):
    """A sink cannot take this fact as long as something lasts: it is tried again until it can."""


class Sink(Protocol):
    """Somewhere facts go. ``accept`` is idempotent: the same fact may come twice."""

    name: str

    @property
    def debounce_s(self) -> float:
        """The least time between two facts of one key; the first comes at once."""
        ...

    @property
    def low_latency(self) -> bool:
        """Whether somebody watches the result; the others wait a moment for more to come."""
        ...

    def key(self, fact: Fact) -> str | None:
        """Return what *fact* is about, None if it is not for this sink.

        Of several waiting facts with one key only the newest is delivered.
        """
        ...

    def accept(self, fact: Fact) -> None:
        """Take *fact*; raise RefusedError if it can never be taken, anything else to be tried again."""
        ...

    def flush(self) -> None:
        """Return when everything accepted so far is safe."""
        ...
