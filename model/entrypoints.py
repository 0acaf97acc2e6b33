"""How a client was started: by a person, or by a program that talks to it (``claude -p``, the SDK)."""

# A program of its own around the SDK counts as a program, though a person may sit before it; the editors
# and the desktop application have names of their own.
_HEADLESS = frozenset({"mcp", "bench", "github-action", "claude-code-github-action"})
_HEADLESS_PREFIX = "sdk"


def is_headless(entrypoint: str) -> bool:
    """Return True if no person is at a client started by *entrypoint*; one that is not told is a person's."""
    return entrypoint.startswith(_HEADLESS_PREFIX) or entrypoint in _HEADLESS
