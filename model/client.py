"""Claude Code clients: their versions, who drives them, and what their hooks send."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from flowd.system.text import storable
from flowd.system.times import MAX_TIME

Version = tuple[int, int, int]

# "2.1.327 (Claude Code)"
_VERSION = re.compile(r"\s*(\d{1,6})\.(\d{1,6})\.(\d{1,6})\b")
# The first version that keeps text injected after a compaction when the session is resumed.
_KEEPS_TOLD: Version = (2, 1, 121)
# A program built on the SDK counts as headless, though a person may use it; the editors and the desktop
# application have other names.
_HEADLESS = frozenset({"mcp", "bench", "github-action", "claude-code-github-action"})
_HEADLESS_PREFIX = "sdk"


def parse_version(text: str) -> Version | None:
    """Return the version that *text* begins with."""
    found = _VERSION.match(text)
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def keeps_what_it_was_told(client: str) -> bool:
    """Return True if *client*, resumed, still has the text that was injected after a compaction."""
    version = parse_version(client)
    return version is None or version >= _KEEPS_TOLD


def is_headless(entrypoint: str) -> bool:
    """Return True if no person uses a client started by *entrypoint*; an unknown one counts as attended."""
    return entrypoint.startswith(_HEADLESS_PREFIX) or entrypoint in _HEADLESS


class HookInput(msgspec.Struct, frozen=True):
    """The standard input of a hook, as far as flowd uses it.

    ``at`` is when it was fired, 0 for just now: it may reach the daemon much later, and out of order.
    ``entrypoint`` is how the client was started, which the hook program adds from its environment.
    """

    hook_event_name: str = ""
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""
    trigger: str = ""
    reason: str = ""
    last_assistant_message: str = ""
    agent_transcript_path: str = ""
    entrypoint: str = ""
    at: float = 0.0

    @property
    def headless(self) -> bool:
        """True if no person is at the client that fired this: ``claude -p`` and the SDK."""
        return is_headless(self.entrypoint)


def hook_input(raw: Mapping[str, Any], at: object = 0.0) -> HookInput:
    """Return the fields of *raw* that are text, fired *at* that time; anything else counts as missing."""
    names = [name for name in HookInput.__struct_fields__ if name != "at"]
    fired_at = float(at) if isinstance(at, (int, float)) and 0 < at < MAX_TIME else 0.0
    texts = {name: storable(raw[name]) for name in names if isinstance(raw.get(name), str)}
    return HookInput(at=fired_at, **texts)
