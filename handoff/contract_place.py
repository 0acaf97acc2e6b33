"""Where all handoff directories are."""

import os

from flowd.config.paths import claude_config_dir

HANDOFFS = "handoffs"


def handoffs_dir(configured: str | None) -> str:
    """Return ``handoffs`` in Claude Code's directory: the *configured* or the usual one, resolved."""
    return os.path.realpath(claude_config_dir(configured) / HANDOFFS)
