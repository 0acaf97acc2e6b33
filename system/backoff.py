"""Waits between attempts: doubled each time, with jitter, up to a limit."""

import random


def backoff_s(attempt: int, *, first_s: float, max_s: float) -> float:
    """Return how long to wait before attempt number *attempt* + 1 (the first failure is attempt 1)."""
    wait = min(max_s, first_s * 2.0 ** min(attempt - 1, 60))
    # Jitter, so that what failed together is not retried together.
    return wait * random.uniform(0.75, 1.25)  # noqa: S311 not a secret
