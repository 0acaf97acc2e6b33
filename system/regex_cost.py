"""Refuse regular expressions that could run for long: the patterns of a person or a project are untrusted.

``re`` backtracks and holds the interpreter lock, so a bad pattern cannot be stopped once it runs. A
pattern is therefore vetted before its first use. Callers promise to search windows of at most
``WINDOW`` characters; vetting computes an upper bound for the steps of one attempt within a window, and
a pattern is accepted only when a search of any text is linear in the length of the text.
"""

import re
from collections.abc import Sequence
from re import _constants, _parser  # type: ignore[attr-defined]  # private, but the only parser of patterns
from typing import Any, NamedTuple

from flowd.system.errors import FlowdError

MAX_PATTERN_LENGTH = 500
MAX_PATTERNS = 100
WINDOW = 256
MAX_STEPS = 16 * WINDOW
# A character of every class beyond Latin-1: a letter, a digit, a blank and a symbol.
_SAMPLES = [*map(chr, range(256)), "Ж", "٣", "\u2003", "→"]
_EVERYTHING = frozenset(_SAMPLES)


class UnsafePatternError(FlowdError, ValueError):
    """A regular expression is not valid, or could take too long on some text."""


class _Cost(NamedTuple):
    """Bounds for one attempt: ``ways`` an element can match at one place, ``steps`` to try them all.

    ``first`` are the characters it can start with; ``is_optional`` means that it can match nothing,
    ``can_fail`` that there are places where it does not match.
    """

    ways: int
    steps: int
    first: frozenset[str]
    is_optional: bool
    can_fail: bool


_ASSERTION = _Cost(1, 1, frozenset(), is_optional=True, can_fail=True)


def compile_all(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    """Return *patterns* compiled; raise UnsafePatternError if one is unsafe or there are too many."""
    if len(patterns) > MAX_PATTERNS:
        raise UnsafePatternError(f"{len(patterns)} patterns: too many", hint=f"keep at most {MAX_PATTERNS}")
    return tuple(map(compile_bounded, patterns))


def compile_bounded(pattern: str) -> re.Pattern[str]:
    """Return *pattern* compiled; raise UnsafePatternError if it is invalid or its cost has no small bound."""
    problem = find_problem(pattern)
    if problem:
        raise UnsafePatternError(
            f"the pattern {pattern!r:.80} {problem}",
            hint="write a short Python regular expression with at most one open repeat (* or +) in front "
            "of the text that ends it",
        )
    return re.compile(pattern)


def find_problem(pattern: object) -> str:
    """Return what is wrong with *pattern* as the rest of a sentence, or ``""``."""
    if not isinstance(pattern, str) or not pattern or len(pattern) > MAX_PATTERN_LENGTH:
        return f"is not a text of 1 to {MAX_PATTERN_LENGTH} characters"
    try:
        tree = _parser.parse(pattern)
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"is not a regular expression: {error}"
    if _sequence(list(tree)).steps > MAX_STEPS:
        return "could take too long: it repeats what can match in many ways"
    return ""


def _sequence(nodes: list[Any]) -> _Cost:
    """Return the cost of *nodes* in a row: what follows an element is tried once for each of its ways."""
    parts = [_element(node) for node in nodes]
    ways, steps, shared = 1, 0, 0
    for index, (node, part) in enumerate(zip(nodes, parts, strict=True)):
        if ways == 1 and _is_run(node):
            # Runs that never backtrack share the characters of the window.
            shared = max(shared, part.steps)
        else:
            steps += part.steps * (ways if any(later.can_fail for later in parts[index:]) else 1)
        if not _is_decided(nodes[index:], parts[index:]):
            ways = _capped(ways * part.ways)
    return _Cost(
        ways,
        _capped(steps + shared),
        _first(parts),
        is_optional=all(part.is_optional for part in parts),
        can_fail=any(part.can_fail for part in parts),
    )


def _is_decided(nodes: list[Any], parts: list[_Cost]) -> bool:
    """Return True if the first of *nodes* is a run that the next cannot start with: it never backtracks."""
    if not _is_run(nodes[0]):
        return False
    for index, (node, part) in enumerate(zip(nodes[1:], parts[1:], strict=True)):
        if node[0] in _LOOK_AROUND:
            return False
        if not part.is_optional:
            return parts[0].first.isdisjoint(_first(parts[1 : index + 2]))
    return False


def _element(node: Any) -> _Cost:
    operation, argument = node
    if operation in _SINGLE:
        return _Cost(1, 1, _characters(node), is_optional=False, can_fail=True)
    if operation in _REPEATS:
        return _repeat(operation, *argument)
    if operation is _constants.SUBPATTERN:
        return _sequence(list(argument[3]))
    if operation is _constants.BRANCH:
        return _branch([_sequence(list(branch)) for branch in argument[1]])
    if operation is _constants.ATOMIC_GROUP:
        return _sequence(list(argument))._replace(ways=1)
    if operation in _LOOK_AROUND:
        return _ASSERTION._replace(steps=_sequence(list(argument[1])).steps)
    if operation is _constants.AT:
        return _ASSERTION
    # References to groups and conditions: as expensive as they can be.
    return _Cost(WINDOW, WINDOW, _EVERYTHING, is_optional=True, can_fail=True)


def _repeat(operation: Any, least: int, most: int, item: Any) -> _Cost:
    inner = _sequence(list(item))
    most = min(most, WINDOW)
    cost = inner._replace(is_optional=least == 0 or inner.is_optional, can_fail=least > 0 and inner.can_fail)
    if inner.is_optional and most > 1:
        return cost._replace(ways=_TOO_MANY, steps=_TOO_MANY)
    if inner.ways > 1:
        ways = _power_sum(inner.ways, most)
        return cost._replace(ways=ways, steps=_capped(ways * inner.steps))
    # Each repeat consumes characters of its own, so many short ones cost no more than the window.
    steps = min(most * inner.steps, WINDOW * len(item) + inner.steps)
    is_possessive = operation is _constants.POSSESSIVE_REPEAT
    return cost._replace(ways=1 if is_possessive else most - least + 1, steps=_capped(steps))


def _branch(branches: list[_Cost]) -> _Cost:
    firsts = [branch.first for branch in branches]
    together: frozenset[str] = frozenset().union(*firsts)
    is_optional = any(branch.is_optional for branch in branches)
    is_exclusive = not is_optional and sum(map(len, firsts)) == len(together)
    ways = [branch.ways for branch in branches]
    return _Cost(
        max(ways) if is_exclusive else _capped(sum(ways)),
        _capped(sum(branch.steps for branch in branches)),
        together,
        is_optional=is_optional,
        can_fail=all(branch.can_fail for branch in branches),
    )


def _first(parts: list[_Cost]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for part in parts:
        found |= part.first
        if not part.is_optional:
            break
    return found


def _is_run(node: Any) -> bool:
    """Return True if *node* repeats single characters, in a group or not."""
    while node[0] is _constants.SUBPATTERN and len(node[1][3]) == 1:
        node = node[1][3][0]
    return node[0] in _REPEATS and len(node[1][2]) == 1 and node[1][2][0][0] in _SINGLE


def _characters(node: Any) -> frozenset[str]:
    """Return the sample characters that *node* matches, in both cases: the pattern may ignore case."""
    operation, argument = node
    if operation is _constants.ANY:
        return _EVERYTHING
    if operation is _constants.LITERAL:
        return _both_cases(_sample(chr(argument)))
    if operation is _constants.NOT_LITERAL:
        return _EVERYTHING - {chr(argument)}
    is_negated = argument[0][0] is _constants.NEGATE
    found = frozenset().union(*map(_member, argument[1:] if is_negated else argument))
    return _EVERYTHING - found if is_negated else _both_cases(found)


def _member(node: Any) -> frozenset[str]:
    operation, argument = node
    if operation is _constants.LITERAL:
        return frozenset(_sample(chr(argument)))
    if operation is _constants.RANGE:
        low, high = map(chr, argument)
        beyond = _SAMPLES[256:] if high > "\xff" else []
        return frozenset([*beyond, *(letter for letter in _SAMPLES[:256] if low <= letter <= high)])
    return frozenset(letter for letter in _SAMPLES if _CATEGORIES[argument](letter))  # type: ignore[no-untyped-call]  # of the standard library


def _sample(letter: str) -> str:
    """Return the samples that represent *letter*."""
    if letter <= "\xff":
        return letter
    return "".join(sample for sample in _SAMPLES[256:] if _is_word(sample) == _is_word(letter))


def _both_cases(letters: str | frozenset[str]) -> frozenset[str]:
    both = {case for letter in letters for case in (letter, letter.lower(), letter.upper())}
    return _EVERYTHING & both


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _power_sum(ways: int, times: int) -> int:
    total, power = 1, 1
    for _ in range(times):
        power *= ways
        total += power
        if total > _TOO_MANY:
            break
    return _capped(total)


def _capped(number: int) -> int:
    return min(number, _TOO_MANY)


_TOO_MANY = 1_000_000
_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_LOOK_AROUND = (_constants.ASSERT, _constants.ASSERT_NOT)
_SINGLE = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)
_CATEGORIES = {
    _constants.CATEGORY_DIGIT: str.isdecimal,
    _constants.CATEGORY_NOT_DIGIT: lambda letter: not letter.isdecimal(),
    _constants.CATEGORY_SPACE: str.isspace,
    _constants.CATEGORY_NOT_SPACE: lambda letter: not letter.isspace(),
    _constants.CATEGORY_WORD: _is_word,
    _constants.CATEGORY_NOT_WORD: lambda letter: not _is_word(letter),
}
