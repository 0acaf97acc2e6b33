"""The protocol of a sink."""

from typing import Protocol

from flowd.model.facts import Fact
from flowd.system.errors import FlowdError


class PermanentFailureError(FlowdError):
    """The sink can never deliver this fact: it is quarantined at once, without a retry."""


class RetryLaterError(FlowdError):
    """The sink cannot deliver this fact yet: it is retried until it can, and never quarantined."""


class Sink(Protocol):
    """A destination for facts. ``accept`` is idempotent: the same fact may arrive twice."""

    name: str

    @property
    def debounce_s(self) -> float:
        """The minimum time between two facts of one key; the first is delivered at once."""
        ...

    @property
    def low_latency(self) -> bool:
        """Whether a person may be watching the result; other sinks are woken with a short delay."""
        ...

    def key(self, fact: Fact) -> str | None:
        """Return the key of *fact*, None if this sink does not want it.

        Of several pending facts with the same key only the newest is delivered.
        """
        ...

    def accept(self, fact: Fact) -> None:
        """Deliver *fact*; raise PermanentFailureError to quarantine it, any other error to retry."""
        ...

    def flush(self) -> None:
        """Make everything accepted so far durable."""
        ...
