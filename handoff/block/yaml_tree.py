"""A block's YAML as a tree that keeps line numbers and repeated keys, which PyYAML's values do not."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from flowd.system.yaml_text import YamlTextError, yaml_events

MAX_BODY_BYTES = 16 * 1024
# The specification's example has 150; a thousand take about 4 ms.
MAX_EVENTS = 2000
MAX_DEPTH = 12


class Scalar(NamedTuple):
    """A single value as written; ``plain`` if it has no quotes."""

    text: str
    line: int
    plain: bool

    @property
    def is_null(self) -> bool:
        """Whether YAML reads it as null."""
        return self.plain and self.text in ("", "~", "null", "Null", "NULL")


class Sequence(NamedTuple):
    """A list of values."""

    items: list["Tree"]
    line: int


class Mapping(NamedTuple):
    """Keys and values, in order, repeated keys included."""

    pairs: list[tuple[Scalar, "Tree"]]
    line: int


Tree = Scalar | Sequence | Mapping


def parse_tree(text: str, first_line: int) -> Tree:
    """Return the tree of *text*; raise YamlTextError if it has none. *first_line* is its line in the file."""
    limits = {"max_characters": MAX_BODY_BYTES, "max_depth": MAX_DEPTH, "max_events": MAX_EVENTS}
    return _build(yaml_events(text, **limits, max_aliases=0, first_line=first_line), first_line)


def _build(events: Iterator[Any], first_line: int) -> Tree:
    """Assemble the tree with a stack of open collections: a hostile depth costs no recursion."""
    root: Tree = Scalar("", first_line, plain=True)
    stack: list[list[Any]] = []
    documents = 0
    for event in events:
        kind = type(event).__name__
        line = first_line + event.start_mark.line
        if kind in ("SequenceStartEvent", "MappingStartEvent"):
            stack.append([kind, line])
        elif kind in ("ScalarEvent", "SequenceEndEvent", "MappingEndEvent"):
            done = _finished(event, line, stack)
            if stack:
                stack[-1].append(done)
            else:
                root = done
        elif kind == "DocumentEndEvent":
            documents += 1
        elif kind == "DocumentStartEvent" and documents:
            raise YamlTextError("a second document starts here", line)
    return root


def _finished(event: Any, line: int, stack: list[list[Any]]) -> Tree:
    kind = type(event).__name__
    if kind == "ScalarEvent":
        return Scalar(event.value, line, plain=event.style in (None, ""))
    _, start, *items = stack.pop()
    return Sequence(items, start) if kind == "SequenceEndEvent" else Mapping(_pairs(items), start)


def _pairs(items: list[Tree]) -> list[tuple[Scalar, Tree]]:
    pairs = []
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, Scalar):
            raise YamlTextError("a list or mapping cannot be a key", key.line)
        pairs.append((key, value))
    return pairs
