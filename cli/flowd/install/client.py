"""The Claude Code client of this machine: where it is, and of which version."""

import os
import shutil
import tempfile
from pathlib import Path

from flowd.model.client import Version, parse_version
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program, safe_search_path, scrubbed_environment

# Where the client's own installers put it; a shell finds these by an alias or a profile that flowd lacks.
USUAL_PLACES = (".local/bin/claude", ".claude/local/claude")
DEADLINE_S = 20.0
# Nobody listens there: nothing may leave this machine because flowd asks the client about itself.
NO_API = "http://127.0.0.1:9"


def find_client() -> str | None:
    """Return the program ``claude``, or None if there is none."""
    found = shutil.which("claude", path=safe_search_path())
    usual = [str(Path.home() / place) for place in USUAL_PLACES]
    return found or next((file for file in usual if os.access(file, os.X_OK)), None)


def client_version(program: str | None) -> Version | None:
    """Return what *program* says of its version; None if there is no program or it says nothing in time."""
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="flowd-client-") as folder:
        try:
            environment = sealed_environment(folder)
            ran = run_program([program, "--version"], cwd=folder, env=environment, timeout_s=DEADLINE_S)
        except (FlowdError, OSError):
            return None
    return parse_version(ran.stdout) if ran.code == 0 else None


def sealed_environment(folder: str) -> dict[str, str]:
    """Return an environment in which the client has *folder* for its home, no credentials and no API."""
    kept = {
        name: value for name, value in scrubbed_environment().items() if not name.startswith("ANTHROPIC_")
    }
    return kept | {
        "HOME": folder,
        "TMPDIR": folder,
        "CLAUDE_CONFIG_DIR": folder,
        "ANTHROPIC_BASE_URL": NO_API,
        "NO_PROXY": "127.0.0.1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def client_name(version: Version | None) -> str:
    """Return the client as it is named to people."""
    return f"Claude Code {'.'.join(map(str, version))}" if version else "Claude Code"
