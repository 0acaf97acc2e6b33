"""Keeping the heap small: what a catch-up needed for a moment goes back to the system. glibc only."""

import ctypes
import sys
from contextlib import suppress

M_ARENA_MAX = -8
ARENAS = 2


def keep_small() -> None:
    """Let all threads share a few arenas; by default each of ours would keep one of its own."""
    _call("mallopt", M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Return what is free to the system."""
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with suppress(
            OSError, AttributeError
        ):  # another libc (musl) has neither the function nor the trouble
            getattr(ctypes.CDLL(None), function)(*arguments)
