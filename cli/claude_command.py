"""Claude Code's own command, asked to change its own configuration."""

import os
import shutil
import signal
import subprocess

from flowd.config.errors import FlowdError

DEADLINE_S = 60


def has_claude() -> bool:
    """Say whether Claude Code's command is on the PATH."""
    return shutil.which("claude") is not None


def run_claude(*words: str) -> None:
    """Run ``claude`` with *words* in a process group of its own, or raise with what it said."""
    process = subprocess.Popen(
        ["claude", *words],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=DEADLINE_S)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise FlowdError(f"claude {words[0]} did not end within {DEADLINE_S} s") from error
        raise
    if process.returncode != 0:
        raise FlowdError(f"claude {' '.join(words[:2])} failed: {' '.join(said.split())[:300]}")


def _environment() -> dict[str, str]:
    # Run from inside a session, its variables (one of them a secret) are not this command's business.
    return {
        name: value
        for name, value in os.environ.items()
        if name == "CLAUDE_CONFIG_DIR" or not name.startswith("CLAUDE")
    }
