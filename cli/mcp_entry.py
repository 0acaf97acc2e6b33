"""How an MCP client is told to start ``flowd mcp``."""

import os
import sys
from pathlib import Path
from typing import Any

from flowd.cli.program import CARRIED

NAME = "flowd"
ARGUMENTS = ["-P", "-m", "flowd", "mcp"]


def server_entry() -> dict[str, Any]:
    """Return the client's configuration of the flowd that is running now."""
    entry: dict[str, Any] = {"command": sys.executable, "args": ARGUMENTS}
    # A client has an environment of its own; flowd must find the same core.db there.
    environment = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    return {**entry, "env": environment} if environment else entry


def is_ours(entry: object) -> bool:
    """Say whether a client's *entry* starts flowd, this one or an earlier one."""
    return isinstance(entry, dict) and entry.get("args") == ARGUMENTS


def desktop_file() -> Path:
    """Return Claude Desktop's configuration file."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/Claude/claude_desktop_config.json"
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "Claude/claude_desktop_config.json"


def code_file() -> Path:
    """Return the file in which Claude Code keeps the servers of user scope. flowd only reads it."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path.home()) / ".claude.json"
