"""A block's YAML as a tree that remembers lines, built without trust.

PyYAML's own tree would resolve tags, follow aliases and nest without end; this one is made from
its events, and stops at the first thing that no honest block contains.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from flowd.system.errors import FlowdError

MAX_BODY_BYTES = 16 * 1024
# The specification's example has 150; a thousand take about 4 ms.
MAX_EVENTS = 2000
DEEPEST = 12


class Scalar(NamedTuple):
    """A single value as written; ``plain`` when no quotes say that it is text."""

    text: str
    line: int
    plain: bool

    @property
    def is_null(self) -> bool:
        """Tell whether YAML reads it as nothing."""
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


class BadYamlError(FlowdError):
    """The text is no YAML that a block could be made of; ``line`` says where."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def parse_tree(text: str, first_line: int) -> Tree:
    """Return the tree of *text*, whose first line is number *first_line*, or raise BadYamlError."""
    if len(text) > MAX_BODY_BYTES:
        raise BadYamlError(f"longer than {MAX_BODY_BYTES // 1024} KB", first_line)
    return _build(_events(text, first_line), first_line)


def _events(text: str, first_line: int) -> Iterator[Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for number, event in enumerate(yaml.parse(text, Loader=loader)):
            if number > MAX_EVENTS:
                raise BadYamlError("too many values", first_line)
            yield event
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "not readable"
        raise BadYamlError(f"not YAML: {problem}", first_line + (mark.line if mark else 0)) from error
    except (ValueError, RecursionError) as error:  # a lone surrogate, or the pure-Python parser's depth
        raise BadYamlError(f"not YAML: {type(error).__name__}", first_line) from error


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
            if len(stack) > DEEPEST:
                raise BadYamlError("nested too deep", line)
        elif kind in ("ScalarEvent", "SequenceEndEvent", "MappingEndEvent"):
            done = _finished(event, kind, line, stack)
            if stack:
                stack[-1].append(done)
            else:
                root = done
        elif kind == "AliasEvent":
            raise BadYamlError("aliases are not taken", line)
        elif kind == "DocumentEndEvent":
            documents += 1
        elif kind == "DocumentStartEvent" and documents:
            raise BadYamlError("a second document starts here", line)
    return root


def _finished(event: Any, kind: str, line: int, stack: list[list[Any]]) -> Tree:
    if kind == "ScalarEvent":
        return Scalar(event.value, line, plain=event.style in (None, ""))
    _, start, *items = stack.pop()
    return Sequence(items, start) if kind == "SequenceEndEvent" else Mapping(_pairs(items), start)


def _pairs(items: list[Tree]) -> list[tuple[Scalar, Tree]]:
    pairs = []
    for key, value in zip(items[::2], items[1::2], strict=True):
        if not isinstance(key, Scalar):
            raise BadYamlError("a list or mapping cannot be a key", key.line)
        pairs.append((key, value))
    return pairs
