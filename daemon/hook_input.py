"""What Claude Code's hooks send: every field may be missing, none is believed blindly."""

from collections.abc import Mapping
from typing import Any

import msgspec


class HookInput(msgspec.Struct, frozen=True):
    """The standard input of a hook, as far as flowd uses it."""

    hook_event_name: str = ""
    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    source: str = ""
    trigger: str = ""
    reason: str = ""
    last_assistant_message: str = ""
    agent_transcript_path: str = ""


def hook_input(raw: Mapping[str, Any]) -> HookInput:
    """Return the fields of *raw* that are text; anything else counts as missing."""
    names = HookInput.__struct_fields__
    return HookInput(**{name: raw[name] for name in names if isinstance(raw.get(name), str)})
