"""The safe YAML loader: for untrusted text, with limits on size, depth and aliases.

Only scalars, lists and mappings: a tag, an anchor used too often, a depth or a size that no person writes
raises YamlTextError before anything is built. libyaml's own composer overruns the stack at a great depth.
"""

from collections.abc import Iterator
from typing import Any

from flowd.system.errors import FlowdError

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 32
MAX_ALIASES = 16
# Counting what an alias stands for each time: sixteen of them can multiply a text by some hundreds.
MAX_VALUES = 100_000
# YAML 1.1 reads digits and colons as one number to the base of sixty, in quadratic time.
MAX_NUMBER_CHARACTERS = 100
_DIGITS = "+-0123456789_:."


class YamlTextError(FlowdError, ValueError):
    """The text is not YAML, or holds more than flowd reads; ``line`` counts from 1, 0 if it is unknown.

    The message quotes nothing of the text: it may hold a secret, and messages are logged.
    """

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(f"{problem}, line {line}" if line else problem)
        self.problem = problem
        self.line = line


def load_yaml(text: str, *, only_text: bool = False, max_characters: int = MAX_CHARACTERS) -> Any:
    """Return the value of *text*, None if it is empty; with *only_text*, every scalar stays as written."""
    import yaml  # here, because a command that reads no YAML should not pay for it

    for _ in yaml_events(text, max_characters=max_characters):
        pass
    name = "BaseLoader" if only_text else "SafeLoader"
    loader = getattr(yaml, f"C{name}", getattr(yaml, name))
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 both build plain values only
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError, AttributeError) as error:
        raise _as_ours(error) from error


def yaml_events(
    text: str,
    *,
    max_characters: int = MAX_CHARACTERS,
    max_depth: int = MAX_DEPTH,
    max_aliases: int = MAX_ALIASES,
    max_events: int = 0,
    first_line: int = 1,
) -> Iterator[Any]:
    """Yield PyYAML's events of *text*; raise YamlTextError at the first one that exceeds a limit.

    *max_events* 0 means as many as *max_characters* allows; *first_line* is the number of the first line.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    if len(text) > max_characters:
        raise YamlTextError(f"longer than {max_characters // 1024} KB", first_line)
    aliases = depth = 0
    sizes = _Sizes()
    events: Iterator[Any] = yaml.parse(text, Loader=loader)
    try:
        for number, event in enumerate(events):
            line = event.start_mark.line + first_line
            if sizes.add(event) > MAX_VALUES:
                raise YamlTextError("too many values", line)
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and _is_long_number(event.value):
                raise YamlTextError("a number that is too long", line)
            aliases += isinstance(event, yaml.AliasEvent)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if getattr(event, "tag", None):
                raise YamlTextError("a tag, which flowd does not read", line)
            if aliases > max_aliases:
                raise YamlTextError(f"more aliases than the {max_aliases} that flowd reads", line)
            if depth > max_depth:
                raise YamlTextError(f"nested deeper than {max_depth} levels", line)
            if 0 < max_events < number:
                raise YamlTextError("too many values", line)
            yield event
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _as_ours(error, first_line) from error


class _Sizes:
    """Counts the values of a document as they would be if each alias were written out."""

    def __init__(self) -> None:
        self._total = 0
        self._anchored: dict[str | None, int] = {}
        self._open: list[tuple[str | None, int]] = []

    def add(self, event: Any) -> int:
        """Count *event*; return the total so far."""
        import yaml

        if isinstance(event, yaml.AliasEvent):
            self._total += self._anchored.get(event.anchor, 1)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append((event.anchor, self._total))
            self._total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = self._open.pop()
            if anchor:
                self._anchored[anchor] = self._total - before
        elif isinstance(event, yaml.ScalarEvent):
            self._total += 1
        return self._total


def _is_long_number(text: str) -> bool:
    return len(text) > MAX_NUMBER_CHARACTERS and text.lstrip("+-")[:1].isdigit() and not text.strip(_DIGITS)


def _as_ours(error: Exception, first_line: int = 1) -> YamlTextError:
    if isinstance(error, YamlTextError):
        return error
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or type(error).__name__
    return YamlTextError(f"invalid YAML: {problem}", mark.line + first_line if mark else 0)
