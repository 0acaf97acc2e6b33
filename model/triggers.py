"""What makes flowd keep a checkpoint."""

from typing import Literal

Trigger = Literal[
    "precompact",
    "idle",
    "stop",
    "session-end",
    "manual",
    "design-end",
    "epic-start",
    "epic-end",
    "pre-finish",
]
AutomaticTrigger = Literal[
    "precompact", "idle", "session-end", "design-end", "epic-start", "epic-end", "pre-finish"
]
