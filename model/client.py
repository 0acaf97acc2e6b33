"""What is known of Claude Code clients: their versions, and who drives them."""

import re

Version = tuple[int, int, int]

# "2.1.327 (Claude Code)"
_VERSION = re.compile(r"\s*(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b")
# The first that has what was told after a compaction still in the conversation when it is resumed.
_KEEPS_TOLD: Version = (2, 1, 121)
# A program of its own around the SDK counts as a program, though a person may sit before it; the editors
# and the desktop application have names of their own.
_HEADLESS = frozenset({"mcp", "bench", "github-action", "claude-code-github-action"})
_HEADLESS_PREFIX = "sdk"


def parse_version(text: str) -> Version | None:
    """Return the version that *text* begins with."""
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def keeps_what_it_was_told(client: str) -> bool:
    """Return True if *client* does not forget, when it is resumed, what it was told after a compaction."""
    version = parse_version(client)
    return version is None or version >= _KEEPS_TOLD


def is_headless(entrypoint: str) -> bool:
    """Return True if no person is at a client started by *entrypoint*; one that is not told is a person's."""
    return entrypoint.startswith(_HEADLESS_PREFIX) or entrypoint in _HEADLESS
