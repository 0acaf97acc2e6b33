"""The protocol of an extractor, and the values that it exchanges with the reader."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import msgspec

from flowd.extractors.transcript.records import Record
from flowd.model.facts import Body


class Note(msgspec.Struct, frozen=True):
    """A fact without its session and project, which the reader adds.

    ``key`` is unique within the session, so that reading a record twice stores one fact.
    """

    key: str
    timestamp: str
    body: Body


# Records of a transcript in their order, each with the line of its file; notes with the line of their record.
Records = Iterator[tuple[Record, int]]
Noted = list[tuple[int, Note]]


class ProjectPlace(msgspec.Struct, frozen=True):
    """The project of a session, looked up on disk by the caller."""

    root: str = ""
    repository: str = ""
    worktree: str = ""
    home: str = ""


def relative_paths(text: str, place: ProjectPlace) -> str:
    """Return *text* with paths relative to the project, or starting with ``~`` below home."""
    if place.root and place.root != "/" and place.root in text:
        text = text.replace(place.root + "/", "").replace(place.root, ".")
    if place.home and place.home != "/" and place.home + "/" in text:
        text = text.replace(place.home + "/", "~/")
    return text


class Extractor(Protocol):
    """A module that folds the records of one session, in file order, into a small private memory.

    It is pure: all its state is in the memory, which is stored with the read offset and restored
    after a restart. Memories are bounded: they do not grow with the session.
    """

    @property
    def NAME(self) -> str:  # noqa: N802 a module's constant
        """The name its memory is stored under."""
        ...

    @property
    def MEMORY(self) -> type[msgspec.Struct]:  # noqa: N802 a module's constant
        """The class of its memory, created without arguments."""
        ...

    def feed(self, memory: Any, records: Records, noted: Noted) -> None:
        """Update *memory* from *records*, and append to *noted* what becomes a fact.

        After an exception ``feed`` is called again with the records after the failed one.
        """
        ...

    def finalize(self, memory: Any) -> None:
        """Do the work that ``feed`` deferred: afterwards *memory* is bounded, redacted and ready to store."""
        ...


class Describer(NamedTuple):
    """Derives fields of SessionState from the memory of one extractor.

    The last result is reused while ``reads`` returns equal values; without ``reads`` nothing is cached.
    """

    extractor: str
    describe: Callable[[Any, ProjectPlace], dict[str, Any]]
    reads: Callable[[Any], tuple[object, ...]] | None = None
