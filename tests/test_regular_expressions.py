"""Every regular expression of flowd takes time in proportion to the text, whatever the text."""

from functools import lru_cache

import pytest

from tests.support.regexes import Expression, all_expressions, hard_texts

SIZE, TIMES = 1500, 4
# Four times the text takes about four times as long; sixteen times if the expression is quadratic.
MAX_GROWTH = 8.0
# Below this the clock says nothing.
MIN_S = 0.0015
SLICES = 8


@lru_cache(maxsize=1)
def expressions() -> list[Expression]:
    return all_expressions()


def growth(expression: Expression, short: str, long: str, rounds: int) -> float:
    """Return how many times longer *long* takes than *short*; 0.0 if it is too fast to tell."""
    longer = min(expression.seconds(long) for _ in range(rounds))
    if longer < MIN_S:
        return 0.0
    return longer / max(min(expression.seconds(short) for _ in range(rounds)), 1e-6)


def slow_texts(expression: Expression) -> list[str]:
    """Return the beginnings of texts on which the time grows faster than the text, measured twice."""
    shorter, longer = (hard_texts(expression.pattern, size) for size in (SIZE, SIZE * TIMES))
    return [
        long[:40]
        for short, long in zip(shorter, longer, strict=True)
        if all(growth(expression, short, long, rounds) > MAX_GROWTH for rounds in (1, 7))
    ]


@pytest.mark.unmeasured
@pytest.mark.parametrize("part", range(SLICES))
def test_time_grows_with_the_text_and_not_faster(part: int) -> None:
    slow = {
        f"{expression.place}: {expression.pattern.pattern!r}": texts
        for expression in expressions()[part::SLICES]
        if (texts := slow_texts(expression))
    }
    assert not slow


def test_the_expressions_are_found() -> None:
    """Those compiled on import, from parts too, and those that a call names."""
    places = {expression.place.rpartition("/")[2].partition(":")[0] for expression in expressions()}
    assert len(expressions()) > 200
    assert {"tools.py", "tokens.py", "markdown.py", "mailbox.py"} <= places
