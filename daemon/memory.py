"""Keeping the daemon small: a heap that gives back what was needed for a moment, and no needless library."""

import ctypes
import importlib
import sys
from contextlib import suppress

M_ARENA_MAX = -8
ARENAS = 2


def limit_arenas() -> None:
    """Let all threads share a few arenas; by default each of ours would keep one of its own."""
    _call("mallopt", M_ARENA_MAX, ARENAS)


def block_openssl() -> None:
    """Have hashlib do with Python's own digests: OpenSSL is megabytes, and the daemon asks for no other."""
    if "hashlib" not in sys.modules and "_hashlib" not in sys.modules:
        sys.modules["_hashlib"] = None  # type: ignore[assignment]  # makes the import fail, as documented
        importlib.import_module("hashlib")
        del sys.modules["_hashlib"]


def trim() -> None:
    """Return what is free to the system."""
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with suppress(
            OSError, AttributeError
        ):  # another libc (musl) has neither the function nor the trouble
            getattr(ctypes.CDLL(None), function)(*arguments)
