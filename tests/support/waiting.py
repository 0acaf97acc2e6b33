"""Waiting for something that another process or thread does."""

import time
from collections.abc import Callable

DEADLINE_S = 60.0
INTERVAL_S = 0.02


def wait_until(condition: Callable[[], object], what: str = "", deadline_s: float = DEADLINE_S) -> None:
    """Return once *condition* holds; fail, naming *what* was waited for, if it does not in time."""
    end = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end, f"not within {deadline_s:g} s: {what or condition}"
        time.sleep(INTERVAL_S)
