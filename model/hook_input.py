"""What Claude Code's hooks send: every field may be missing, none is believed blindly."""

from collections.abc import Mapping
from typing import Any

import msgspec

from flowd.model.client import is_headless


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
    moment = float(at) if isinstance(at, (int, float)) else 0.0
    return HookInput(at=moment, **{name: raw[name] for name in names if isinstance(raw.get(name), str)})
