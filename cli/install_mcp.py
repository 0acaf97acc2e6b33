"""The part of ``flowd install`` that introduces the MCP server to Claude Code and Claude Desktop."""

import argparse
import json
import shlex

from flowd.cli.claude_command import has_claude, run_claude
from flowd.cli.mcp_config import entry_in, set_entry
from flowd.cli.mcp_entry import NAME, code_file, desktop_file, is_ours, server_entry
from flowd.cli.mcp_extra import need_mcp
from flowd.config.errors import FlowdError
from flowd.config.paths import Paths


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that ask for this step."""
    parser.add_argument(
        "--mcp",
        action="store_true",
        help="register the MCP server with Claude Code (user scope), print the block for Claude Desktop",
    )
    parser.add_argument(
        "--mcp-desktop", action="store_true", help="the same, and write the block into Claude Desktop's file"
    )


def install(_: Paths, arguments: argparse.Namespace) -> None:
    """Register the server where it is asked for; say every file and command."""
    if not (arguments.mcp or arguments.mcp_desktop):
        return
    need_mcp()
    _install_desktop(write=arguments.mcp_desktop, dry_run=arguments.dry_run)
    _install_code(dry_run=arguments.dry_run)


def uninstall(_: Paths, arguments: argparse.Namespace) -> None:
    """Take the server out again where flowd put it; leave everything else."""
    if is_ours(entry_in(desktop_file(), NAME)):
        print(f"{'would remove' if arguments.dry_run else 'removed'}  {NAME} from {desktop_file()}")
        if not arguments.dry_run:
            set_entry(desktop_file(), NAME, None)
    if is_ours(entry_in(code_file(), NAME)):
        _ask_claude("mcp", "remove", "--scope", "user", NAME, dry_run=arguments.dry_run)


def _install_desktop(*, write: bool, dry_run: bool) -> None:
    block = json.dumps({"mcpServers": {NAME: server_entry()}}, indent=2, ensure_ascii=False)
    if not write:
        print(f"for Claude Desktop, put this into {desktop_file()} (or add --mcp-desktop):\n{block}")
    elif entry_in(desktop_file(), NAME) == server_entry():
        print(f"Claude Desktop knows flowd already ({desktop_file()})")
    else:
        print(f"{'would write' if dry_run else 'wrote'}  {desktop_file()}\n{block}")
        if not dry_run:
            set_entry(desktop_file(), NAME, server_entry())


def _install_code(*, dry_run: bool) -> None:
    entry = {"type": "stdio", **server_entry()}
    present = entry_in(code_file(), NAME)
    if _same(present, entry):
        print("Claude Code knows flowd already (user scope)")
        return
    if present is not None:
        _ask_claude("mcp", "remove", "--scope", "user", NAME, dry_run=dry_run)
    _ask_claude("mcp", "add-json", "--scope", "user", NAME, json.dumps(entry), dry_run=dry_run)


def _same(present: object, entry: dict[str, object]) -> bool:
    # The client may note an empty environment that flowd left out.
    return isinstance(present, dict) and {"env": {}, **present} == {"env": {}, **entry}


def _ask_claude(*words: str, dry_run: bool) -> None:
    shown = shlex.join(words)
    if dry_run:
        print(f"would run  claude {shown}")
    elif not has_claude():
        raise FlowdError("Claude Code's command is not on the PATH", hint=f"where it is: claude {shown}")
    else:
        run_claude(*words)
        print(f"ran  claude {shown}")
