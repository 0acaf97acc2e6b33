"""What programs that flowd starts find in their environment."""

import os


def scrubbed_environment() -> dict[str, str]:
    """Return this process's environment without what belongs to a Claude session."""
    kept = ("CLAUDE_CONFIG_DIR",)
    return {
        name: value for name, value in os.environ.items() if not name.startswith("CLAUDE") or name in kept
    }
