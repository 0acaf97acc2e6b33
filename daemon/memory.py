"""Keep the daemon's memory small (benchmark row: resting USS)."""

import ctypes
import importlib
import sys
from contextlib import suppress

M_ARENA_MAX = -8
ARENAS = 2


def limit_arenas() -> None:
    """Let all threads share a few malloc arenas; by default each thread would get its own."""
    _call("mallopt", M_ARENA_MAX, ARENAS)


def block_openssl() -> None:
    """Make hashlib use Python's own digests: OpenSSL takes megabytes, and the daemon needs only blake2."""
    if "hashlib" not in sys.modules and "_hashlib" not in sys.modules:
        sys.modules["_hashlib"] = None  # type: ignore[assignment]  # makes the import fail, as documented
        importlib.import_module("hashlib")
        del sys.modules["_hashlib"]


def trim() -> None:
    """Return free memory to the system."""
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another libc (musl) has no such function
            getattr(ctypes.CDLL(None), function)(*arguments)
