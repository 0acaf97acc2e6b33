"""What an extractor is, and the two small values it trades in."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from flowd.extractors.transcript.records import Record
from flowd.model.facts import Body


class Note(msgspec.Struct, frozen=True):
    """A fact in the making: the daemon adds which session and project it is about.

    ``key`` is unique within the session, so that reading a record again notes nothing new.
    """

    key: str
    timestamp: str
    body: Body


# Records of a transcript in their order, each with the line of its file; notes with the line of their record.
Records = Iterator[tuple[Record, int]]
Noted = list[tuple[int, Note]]


class ProjectPlace(msgspec.Struct, frozen=True):
    """Where a session works, as found on disk by whoever asks for its state."""

    root: str = ""
    repository: str = ""
    worktree: str = ""
    home: str = ""


class Extractor(Protocol):
    """A module that folds the records of one session, in file order, into a small memory of its own.

    It is pure: what it knows is in the memory, which is stored with the read position and given
    back after a restart. Memories are bounded: they do not grow with the session.
    """

    @property
    def NAME(self) -> str:  # noqa: N802 a module's constant
        """The name its memory is stored under."""
        ...

    @property
    def Memory(self) -> type[msgspec.Struct]:  # noqa: N802 a module's class
        """What it remembers, made without arguments."""
        ...

    def feed(self, memory: Any, records: Records, noted: Noted) -> None:
        """Take *records* into *memory*, and add to *noted* what is worth a fact.

        A record that fails is passed over: feeding is called again with those that are left.
        """
        ...

    def settle(self, memory: Any) -> None:
        """Do what feeding put off: afterwards *memory* is bounded, free of secrets, fit to be stored."""
        ...


class Describer(NamedTuple):
    """Tells fields of SessionState from the memory of one extractor.

    While what ``reads`` returns stays the same, what was told last stands; without it, ``describe`` is
    asked each time.
    """

    extractor: str
    describe: Callable[[Any, ProjectPlace], dict[str, Any]]
    reads: Callable[[Any], tuple[object, ...]] | None = None
