"""Where all handoff directories are."""

import os
from pathlib import Path

from flowd.config.paths import claude_config_dir

HANDOFFS = "handoffs"


def handoffs_dir(configured: str | None) -> str:
    """Return ``handoffs`` in Claude Code's directory: the *configured* or the usual one, resolved."""
    claude = Path(configured).expanduser() if configured else claude_config_dir()
    return os.path.realpath(claude / HANDOFFS)
