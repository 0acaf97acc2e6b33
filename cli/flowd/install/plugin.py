"""The step of ``flowd install`` that registers the plugin with Claude Code, by the client's own command."""

import argparse
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import flowd
from flowd.cli.flowd.install.hook_settings import plugin_enabled
from flowd.config.paths import Paths, claude_config_dir
from flowd.config.settings import load_settings
from flowd.hooks.command import write_launcher
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program, scrubbed_environment
from flowd.system.text import one_line
from flowd.workspace.clients import find_client

DEADLINE_S = 120
MARKETPLACE = "flowd"
PLUGIN = f"flowd@{MARKETPLACE}"


def plugin_dir() -> Path:
    """Return the plugin's folder, which is its marketplace too."""
    return (Path(flowd.__file__).parent / "plugin").resolve()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects this step."""
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="register the plugin with Claude Code: hooks, MCP server and commands",
    )


def install(paths: Paths, arguments: argparse.Namespace) -> None:
    """Register the plugin of this flowd; print every command run."""
    if not arguments.plugin:
        return
    client = _Client(paths, dry_run=arguments.dry_run)
    registered = client.marketplace()
    if registered == plugin_dir() and client.has_plugin():
        print(f"the plugin is already registered with Claude Code ({registered})")
    else:
        if registered not in (None, plugin_dir()):
            client.run("marketplace", "remove", MARKETPLACE)
        client.run("marketplace", "add", str(plugin_dir()))
        client.run("install", PLUGIN)
    if not arguments.dry_run:
        write_launcher(paths)
    if shutil.which("flowd") is None:
        print("the plugin runs `flowd mcp`, but flowd is not on the PATH: run `flowd install --mcp` too")


def uninstall(paths: Paths, arguments: argparse.Namespace) -> None:
    """Remove the plugin and its marketplace, if they are registered."""
    client = _Client(paths, dry_run=arguments.dry_run)
    if client.has_plugin():
        client.run("uninstall", PLUGIN)
    if client.marketplace() is not None:
        client.run("marketplace", "remove", MARKETPLACE)


class _Client:
    """Claude Code: what it has registered, read from its files, and its own command to change that."""

    def __init__(self, paths: Paths, *, dry_run: bool) -> None:
        self._configured = load_settings(paths.config_file).settings.claude.config_dir
        self._directory = claude_config_dir(self._configured)
        self._dry_run = dry_run

    def marketplace(self) -> Path | None:
        """Return the folder that is registered as the marketplace of flowd; None without one."""
        entry = _read_object(self._directory / "plugins" / "known_marketplaces.json").get(MARKETPLACE)
        source = entry.get("source") if isinstance(entry, dict) else None
        path = source.get("path") if isinstance(source, dict) else None
        return Path(path) if isinstance(path, str) else None

    def has_plugin(self) -> bool:
        """Return True if the plugin is installed and enabled."""
        return plugin_enabled(_read_object(self._directory / "settings.json"))

    def run(self, *words: str) -> None:
        """Run ``claude plugin`` with *words*; raise FlowdError with its output if it fails."""
        shown = f"claude plugin {shlex.join(words)}"
        if self._dry_run:
            print(f"would run  {shown}")
            return
        program = find_client()
        if program is None:
            hint = f"add it to the PATH, then run: {shown}"
            raise FlowdError("the command `claude` is not on the PATH", hint=hint)
        command, home = [program, "plugin", *words], str(Path.home())
        ran = run_program(command, cwd=home, env=self._environment(), timeout_s=DEADLINE_S)
        if ran.code != 0:
            raise FlowdError(f"`{shown}` failed: {one_line(ran.stdout + ran.stderr)[:300]}")
        print(f"ran  {shown}")

    def _environment(self) -> dict[str, str]:
        # Inside a session, the environment has a secret of that session: do not pass it on.
        moved = {"CLAUDE_CONFIG_DIR": str(self._directory)} if self._configured else {}
        return scrubbed_environment() | moved


def _read_object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
