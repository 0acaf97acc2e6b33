"""The YAML tree of a block, with line numbers and repeated keys, and the schema of its fields."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import msgspec

from flowd.model import block as values
from flowd.system.text import cut, one_line
from flowd.system.yaml_text import YamlTextError, yaml_events

MAX_BODY_BYTES = 16 * 1024
# The specification's example has 150; a thousand take about 4 ms.
MAX_EVENTS = 2000
MAX_DEPTH = 12
_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")
_TAG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|[A-Za-z][A-Za-z0-9+.-]*://")
_PLACEHOLDER_ID = re.compile(r"(?:pattern|gotcha)-X+|\[.*\]|<.*>", re.IGNORECASE)
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
MAX_SHOWN_CHARACTERS = 80


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


class BrokenRuleError(Exception):
    """A value breaks a rule; only ever raised inside this package, and turned into a Violation."""

    def __init__(self, tree: Tree, rule: str) -> None:
        super().__init__(rule)
        self.tree = tree
        self.rule = rule


Read = Callable[[Tree], Any]


class ItemSchema(NamedTuple):
    """One entry of a list field: the value it becomes, its main field, and how each field is read."""

    value: type[msgspec.Struct]
    main: str
    fields: dict[str, Read]


def shown(tree: Tree) -> str:
    """Return *tree* on one short line, for a message."""
    if isinstance(tree, Scalar):
        text = one_line(tree.text)
    elif isinstance(tree, Sequence):
        text = f"[{', '.join(shown(item) for item in tree.items[:5])}]"
    else:
        text = f"{{{', '.join(key.text for key, _ in tree.pairs[:5])}}}"
    return cut(text, MAX_SHOWN_CHARACTERS)


def text(tree: Tree) -> str:
    """Read any text; nothing is the empty text."""
    if not isinstance(tree, Scalar):
        _broken(tree, "must be text, not a list or a mapping")
    return "" if tree.is_null else tree.text.strip()


def words(tree: Tree) -> str:
    """Read a text that must not be empty."""
    return text(tree) or _broken(tree, "must not be empty")


def path(tree: Tree) -> str:
    """Read a path below the project root."""
    given = words(tree)
    if _ABSOLUTE.match(given) or ".." in re.split(r"[/\\]", given):
        _broken(tree, "must be relative to the project root")
    return given


def location(tree: Tree) -> str:
    """Read where something is used: a path below the project root, a description, or nothing."""
    return path(tree) if text(tree) else ""


def lines(tree: Tree) -> str:
    """Read a range of lines; a lone number means that one line."""
    given = text(tree)
    if given in ("", "all"):
        return given
    if given.isdecimal() and given.isascii() and int(given[:10]) > 0:
        return f"{given}-{given}"
    match = _RANGE.fullmatch(given)
    if not match or not 0 < int(match[1]) <= int(match[2]):
        _broken(tree, 'must be "N-M" or "all"')
    return given


def texts(tree: Tree) -> tuple[str, ...]:
    """Read a list of texts; nothing is the empty list."""
    if isinstance(tree, Scalar) and tree.is_null:
        return ()
    if not isinstance(tree, Sequence):
        _broken(tree, "must be a list")
    return tuple(words(item) for item in tree.items)


def tags(tree: Tree) -> tuple[str, ...]:
    """Read a list of tags."""
    found = texts(tree)
    for tag, item in zip(found, tree.items if isinstance(tree, Sequence) else (), strict=True):
        if not _TAG.fullmatch(tag):
            _broken(item, "tags must be lowercase, hyphenated")
    return found


def boolean(tree: Tree) -> bool:
    """Read yes or no; nothing is no."""
    given = text(tree).casefold()
    if given and given not in _BOOLEANS:
        _broken(tree, "must be true or false")
    return _BOOLEANS.get(given, False)


def identity(tree: Tree) -> str:
    """Read an id; the placeholder of the template counts as none."""
    given = text(tree)
    return "" if _PLACEHOLDER_ID.fullmatch(given) else given


def one_of(*choices: str) -> Read:
    """Return a reader that takes one of *choices*."""

    def read(tree: Tree) -> str:
        given = text(tree)
        if given not in choices:
            _broken(tree, f"must be {'/'.join(choices)}")
        return given

    return read


def _broken(tree: Tree, rule: str) -> NoReturn:
    raise BrokenRuleError(tree, rule)


OUTCOMES = ("completed", "partial", "failed", "blocked")
LEVEL = one_of("high", "medium", "low")

ITEMS: dict[str, ItemSchema] = {
    "files_created": ItemSchema(values.CreatedFile, "path", {"path": path, "purpose": text, "lines": lines}),
    "files_modified": ItemSchema(
        values.ModifiedFile,
        "path",
        {
            "path": path,
            "lines": lines,
            "change_type": one_of("add", "modify", "delete", "refactor"),
            "description": text,
        },
    ),
    "patterns_discovered": ItemSchema(
        values.Pattern,
        "pattern",
        {"id": identity, "pattern": words, "location": location, "applies_to": tags},
    ),
    "gotchas": ItemSchema(
        values.Gotcha,
        "issue",
        {"id": identity, "issue": words, "discovered_in": text, "mitigation": text, "severity": LEVEL},
    ),
    "dependencies_for_next": ItemSchema(values.Dependency, "file", {"file": path, "reason": text}),
    "open_questions": ItemSchema(
        values.OpenQuestion,
        "question",
        {"question": words, "context": text, "recommendation": text, "blocking": boolean},
    ),
    "suggested_next_steps": ItemSchema(
        values.NextStep, "step", {"step": words, "priority": LEVEL, "depends_on": texts}
    ),
    "blockers": ItemSchema(
        values.Blocker,
        "blocker",
        {"blocker": words, "impact": text, "suggested_resolution": text, "blocking_tasks": texts},
    ),
}


def is_empty(tree: Tree) -> bool:
    """Return True if *tree* is null or has no items."""
    if isinstance(tree, Scalar):
        return tree.is_null
    return not (tree.pairs if isinstance(tree, Mapping) else tree.items)
