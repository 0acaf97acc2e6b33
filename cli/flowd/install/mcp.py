"""The step of ``flowd install`` that registers the MCP server with Claude Code and Claude Desktop."""

import argparse
import json
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flowd.cli.flowd.install.settings_file import SettingsFile
from flowd.cli.flowd.manager.manager import CARRIED
from flowd.cli.flowd.mcp import need_mcp
from flowd.config.paths import Paths
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program, scrubbed_environment
from flowd.system.text import one_line
from flowd.workspace.clients import find_client

DEADLINE_S = 60


def has_claude() -> bool:
    """Return True if Claude Code is installed."""
    return find_client() is not None


def is_possible() -> bool:
    """Return True if the server can be registered: the MCP SDK and Claude Code are both here."""
    return find_spec("mcp") is not None and has_claude()


def run_claude(*words: str) -> None:
    """Run ``claude`` with *words*; raise FlowdError with its output if it fails."""
    client = find_client()
    if client is None:
        raise FlowdError("Claude Code is not installed", hint="install it, then run this again")
    # Inside a session, the environment has a secret of that session: do not pass it on.
    result = run_program(
        [client, *words], cwd=str(Path.cwd()), env=scrubbed_environment(), timeout_s=DEADLINE_S
    )
    if result.code != 0:
        output = one_line(result.stdout + result.stderr)[:300]
        raise FlowdError(f"claude {' '.join(words[:2])} failed: {output}")


_REMEDY = "mend it first; flowd changed nothing"


def read_config(path: Path) -> dict[str, Any]:
    """Return the configuration in *path*, empty without the file; raise FlowdError if it is not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8") or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise FlowdError(f"cannot read {path} as JSON: {error}", hint=_REMEDY) from error
    if not isinstance(value, dict) or not isinstance(value.get("mcpServers", {}), dict):
        raise FlowdError(f"{path} is not the configuration of an MCP client", hint=_REMEDY)
    return value


def entry_in(path: Path, name: str) -> object:
    """Return the entry of the server *name* in *path*, or None."""
    return read_config(path).get("mcpServers", {}).get(name)


def set_entry(file: SettingsFile, name: str, entry: dict[str, Any] | None) -> None:
    """Set the entry *name* in *file*, or remove it; keep everything else, and a backup."""
    before = file.read()
    config = read_config(file.file)
    servers = config.setdefault("mcpServers", {})
    if entry is None:
        servers.pop(name, None)
        after = _as_it_was(file, config)
    else:
        servers[name] = entry
        after = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
    file.replace(before, after)


def _as_it_was(file: SettingsFile, config: dict[str, Any]) -> str:
    """Return the text from before flowd's entry if nothing else has changed since, else *config*."""
    for text in file.backups():
        earlier = json.loads(text) if text.strip() else {}
        if {"mcpServers": {}, **earlier} == config:
            return text
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def _desktop(paths: Paths) -> SettingsFile:
    return SettingsFile(desktop_file(), paths.state_dir / "backups" / "claude-desktop")


NAME = "flowd"
ARGUMENTS = ["-P", "-m", "flowd", "mcp"]


def server_entry() -> dict[str, Any]:
    """Return the entry for the flowd that is running now."""
    entry: dict[str, Any] = {"command": sys.executable, "args": ARGUMENTS}
    # The environment of a client may differ; flowd must find the same core.db.
    environment = {name: os.environ[name] for name in CARRIED if os.environ.get(name)}
    return {**entry, "env": environment} if environment else entry


def is_ours(entry: object) -> bool:
    """Return True if *entry* starts this flowd or an earlier one."""
    return isinstance(entry, dict) and entry.get("args") == ARGUMENTS


def desktop_file() -> Path:
    """Return Claude Desktop's configuration file."""
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/Claude/claude_desktop_config.json"
    config = os.environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "Claude/claude_desktop_config.json"


def code_file() -> Path:
    """Return the file with Claude Code's servers of user scope, which flowd only reads."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(moved) if moved else Path.home()) / ".claude.json"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that select this step."""
    parser.add_argument(
        "--mcp",
        action="store_true",
        help="register the MCP server with Claude Code (user scope), print the block for Claude Desktop",
    )
    parser.add_argument(
        "--mcp-desktop", action="store_true", help="the same, and write the block into Claude Desktop's file"
    )


def install(paths: Paths, arguments: argparse.Namespace) -> None:
    """Register the server with the selected clients; print every file and command."""
    if not (arguments.mcp or arguments.mcp_desktop):
        return
    need_mcp()
    _install_desktop(paths, write=arguments.mcp_desktop, dry_run=arguments.dry_run)
    _install_code(dry_run=arguments.dry_run)


def uninstall(paths: Paths, arguments: argparse.Namespace) -> None:
    """Remove the entries that flowd wrote, and nothing else."""
    if is_ours(entry_in(desktop_file(), NAME)):
        print(f"{'would remove' if arguments.dry_run else 'removed'}  {NAME} from {desktop_file()}")
        if not arguments.dry_run:
            set_entry(_desktop(paths), NAME, None)
    if is_ours(entry_in(code_file(), NAME)):
        _ask_claude("mcp", "remove", "--scope", "user", NAME, dry_run=arguments.dry_run)


def _install_desktop(paths: Paths, *, write: bool, dry_run: bool) -> None:
    block = json.dumps({"mcpServers": {NAME: server_entry()}}, indent=2, ensure_ascii=False)
    if not write:
        print(f"for Claude Desktop, add this to {desktop_file()} (or run again with --mcp-desktop):\n{block}")
    elif entry_in(desktop_file(), NAME) == server_entry():
        print(f"flowd is already registered with Claude Desktop ({desktop_file()})")
    else:
        print(f"{'would write' if dry_run else 'wrote'}  {desktop_file()}\n{block}")
        if not dry_run:
            set_entry(_desktop(paths), NAME, server_entry())


def _install_code(*, dry_run: bool) -> None:
    entry = {"type": "stdio", **server_entry()}
    present = entry_in(code_file(), NAME)
    if _same(present, entry):
        print("flowd is already registered with Claude Code (user scope)")
        return
    if present is not None:
        _ask_claude("mcp", "remove", "--scope", "user", NAME, dry_run=dry_run)
    _ask_claude("mcp", "add-json", "--scope", "user", NAME, json.dumps(entry), dry_run=dry_run)


def _same(present: object, entry: dict[str, object]) -> bool:
    # The client may have added an empty environment.
    return isinstance(present, dict) and {"env": {}, **present} == {"env": {}, **entry}


def _ask_claude(*words: str, dry_run: bool) -> None:
    shown = shlex.join(words)
    if dry_run:
        print(f"would run  claude {shown}")
    elif not has_claude():
        raise FlowdError(
            "Claude Code's command `claude` is not on the PATH",
            hint=f"where it is on the PATH, run: claude {shown}",
        )
    else:
        run_claude(*words)
        print(f"ran  claude {shown}")
